"""That there is a limit is a fact of its own: one whose objects were deleted allows nothing.

Who has limits today keeps them. A limit that was lost already, because its surfaces were deleted,
is found in the audit log and holds again: it allows nothing until an administrator changes it.
"""

from django.db import migrations, models

OWNERS = ("operator", "apikey", "noticerule")

# The surfaces that the audit log last named for an operator, and those a key was made with.
LOST = """
UPDATE surfaces_operator AS o SET only_surfaces = true
WHERE NOT o.only_surfaces AND (
    SELECT CASE e.action
        WHEN 'operator.made' THEN jsonb_array_length(e.facts -> 'surfaces')
        ELSE jsonb_array_length(e.facts -> 'surfaces' -> 1)
    END
    FROM surfaces_auditevent AS e
    WHERE e.subject = 'operator:' || o.id AND e.facts ? 'surfaces'
        AND e.action IN ('operator.made', 'operator.changed')
    ORDER BY e.id DESC LIMIT 1
) > 0;
UPDATE surfaces_apikey AS k SET only_surfaces = true
WHERE NOT k.only_surfaces AND EXISTS (
    SELECT FROM surfaces_auditevent AS e
    WHERE e.subject = 'apikey:' || k.id AND e.action = 'api_key.issued'
        AND jsonb_array_length(e.facts -> 'surfaces') > 0
);
"""


def limit(owner: str) -> str:
    return f"""
    UPDATE surfaces_{owner} AS o SET
        only_agents = cardinality(o.agents) > 0,
        only_surfaces = EXISTS (
            SELECT FROM surfaces_{owner}_surfaces AS chosen WHERE chosen.{owner}_id = o.id
        );
    """  # noqa: S608 - names of our own tables


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0008_account_is_demo")]

    operations = [
        *(
            migrations.AddField(owner, name, models.BooleanField(default=False))
            for owner in OWNERS
            for name in ("only_surfaces", "only_agents")
        ),
        *(migrations.RunSQL(limit(owner), migrations.RunSQL.noop) for owner in OWNERS),
        migrations.RunSQL(LOST, migrations.RunSQL.noop),
    ]
