"""Columns of messages may be NULL as in the documents, and a plain INSERT of theirs works."""

import django.db.models.functions.datetime
from django.db import migrations, models

# What a plain INSERT leaves out: the account is that of the thread, or the only one; the id at the
# service is the one in raw_json, or one that no service has.
FILL = """
CREATE FUNCTION message_fill_own_columns() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ids regclass := pg_get_serial_sequence('messages', 'id');
BEGIN
    IF NEW.id > coalesce(pg_sequence_last_value(ids), 0) THEN
        PERFORM setval(ids, NEW.id);  -- or a later row would be given the same id
    END IF;
    NEW.raw_json := coalesce(NEW.raw_json, '{}');
    NEW.reply_attempts := coalesce(NEW.reply_attempts, 0);
    IF NEW.kind = 'post' THEN
        NEW.post_id := coalesce(NEW.post_id, NEW.id);
    ELSIF NEW.post_id IS NULL THEN
        SELECT post_id INTO NEW.post_id FROM messages WHERE id = NEW.parent_id;
    END IF;
    IF NEW.account_id IS NULL THEN
        SELECT account_id INTO NEW.account_id FROM messages WHERE id = NEW.post_id;
    END IF;
    IF NEW.account_id IS NULL THEN
        SELECT min(id) INTO NEW.account_id FROM surfaces_account HAVING count(*) = 1;
    END IF;
    IF NEW.account_id IS NULL THEN
        RAISE EXCEPTION 'name account_id: its post is not stored, and there is not one account only'
            USING ERRCODE = 'not_null_violation';
    END IF;
    NEW.remote_id := left(
        coalesce(NEW.remote_id, nullif(NEW.raw_json->>'id', ''), 'row-' || NEW.id), 500);
    RETURN NEW;
END $$;
CREATE TRIGGER message_plain_insert BEFORE INSERT ON messages FOR EACH ROW
    WHEN (NEW.account_id IS NULL OR NEW.remote_id IS NULL OR NEW.post_id IS NULL)
    EXECUTE FUNCTION message_fill_own_columns();
"""
DROP_FILL = """
DROP TRIGGER message_plain_insert ON messages;
DROP FUNCTION message_fill_own_columns();
"""

# A desk item has an author and words, be they empty.
DESK_PUT = """
CREATE OR REPLACE FUNCTION desk_put(
    a_kind text, an_item bigint, an_account bigint, an_agent text, a_since timestamptz,
    an_expiry timestamptz, a_risk int, an_author text, the_words text
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO desk_items AS d
        (kind, item_id, account_id, agent, since, expires_at, risk, author, words, later_by)
    VALUES (a_kind, an_item, an_account, an_agent, a_since, an_expiry, a_risk,
            left(coalesce(an_author, ''), 200), left(coalesce(the_words, ''), 800), '')
    ON CONFLICT (kind, item_id) DO UPDATE SET
        agent = excluded.agent, expires_at = excluded.expires_at, risk = excluded.risk,
        author = excluded.author, words = excluded.words
$$;
"""


def altered(name, field):
    return migrations.AlterField(model_name="message", name=name, field=field)


EMPTY_OBJECT = models.Value({}, models.JSONField())
EMPTY_LIST = models.Value([], models.JSONField())


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0003_moltbook_facts")]

    operations = [
        altered("author", models.CharField(blank=True, max_length=200, null=True)),
        altered("title", models.TextField(blank=True, null=True)),
        altered("content", models.TextField(blank=True, null=True)),
        altered("url", models.TextField(blank=True, null=True)),
        altered(
            "submolt",
            models.CharField(blank=True, max_length=200, null=True, verbose_name="community"),
        ),
        altered("raw_json", models.JSONField(blank=True, db_default=EMPTY_OBJECT, default=dict)),
        altered("reply_attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
        altered(
            "author_id",
            models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
        altered("seen_at", models.DateTimeField(db_default=django.db.models.functions.Now())),
        altered(
            "reply_why",
            models.JSONField(
                blank=True,
                db_default=EMPTY_OBJECT,
                default=dict,
                help_text="Why it failed, or was passed.",
            ),
        ),
        altered("spam_reasons", models.JSONField(blank=True, db_default=EMPTY_LIST, default=list)),
        altered(
            "fingerprint",
            models.CharField(blank=True, db_default="", default="", max_length=32),
        ),
        migrations.RunSQL(FILL, DROP_FILL),
        migrations.RunSQL(DESK_PUT, migrations.RunSQL.noop),
    ]
