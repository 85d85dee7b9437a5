"""The desk: what waits for a person, kept by triggers on the things' own tables."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

KEEP = """
CREATE FUNCTION desk_put(
    a_kind text, an_item bigint, an_account bigint, an_agent text, a_since timestamptz,
    an_expiry timestamptz, a_risk int, an_author text, the_words text
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO desk_items AS d
        (kind, item_id, account_id, agent, since, expires_at, risk, author, words, later_by)
    VALUES (a_kind, an_item, an_account, an_agent, a_since, an_expiry, a_risk,
            left(an_author, 200), left(the_words, 800), '')
    ON CONFLICT (kind, item_id) DO UPDATE SET
        agent = excluded.agent, expires_at = excluded.expires_at, risk = excluded.risk,
        author = excluded.author, words = excluded.words
$$;

CREATE FUNCTION desk_keep_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM desk_items WHERE kind IN ('suspect', 'given_up') AND item_id = OLD.id;
        RETURN NULL;
    END IF;
    IF NEW.spam_status = 'suspect' AND NEW.direction = 'incoming' AND NEW.deleted_at IS NULL THEN
        PERFORM desk_put(
            'suspect', NEW.id, NEW.account_id, '', coalesce(NEW.edited_at, NEW.seen_at), NULL,
            CASE WHEN NEW.spam_score >= 0.8 THEN 2 WHEN NEW.spam_score >= 0.6 THEN 1 ELSE 0 END,
            NEW.author, concat_ws(' ', left(NEW.title, 300), left(NEW.content, 400)));
    ELSIF TG_OP = 'UPDATE' THEN
        DELETE FROM desk_items WHERE kind = 'suspect' AND item_id = NEW.id;
    END IF;
    IF NEW.reply_status = 'failed' AND NEW.kind = 'comment' AND NEW.direction = 'incoming'
        AND NEW.deleted_at IS NULL AND NEW.spam_status IS DISTINCT FROM 'spam'
        AND NOT EXISTS (SELECT FROM surfaces_draft
                        WHERE target_id = NEW.id AND what = 'reply' AND state = 'failed') THEN
        PERFORM desk_put('given_up', NEW.id, NEW.account_id, '', now(), NULL, 1, NEW.author,
                         left(NEW.content, 400));
    ELSIF TG_OP = 'UPDATE' THEN
        DELETE FROM desk_items WHERE kind = 'given_up' AND item_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER desk_new_message AFTER INSERT ON messages FOR EACH ROW
    WHEN (NEW.spam_status = 'suspect' OR NEW.reply_status = 'failed')
    EXECUTE FUNCTION desk_keep_message();
CREATE TRIGGER desk_changed_message AFTER UPDATE OF
    spam_status, spam_score, reply_status, deleted_at, content, title, author ON messages
    FOR EACH ROW
    WHEN (OLD.spam_status = 'suspect' OR NEW.spam_status = 'suspect'
          OR OLD.reply_status = 'failed' OR NEW.reply_status = 'failed')
    EXECUTE FUNCTION desk_keep_message();
CREATE TRIGGER desk_gone_message AFTER DELETE ON messages FOR EACH ROW
    WHEN (OLD.spam_status = 'suspect' OR OLD.reply_status = 'failed')
    EXECUTE FUNCTION desk_keep_message();

CREATE FUNCTION desk_keep_draft() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_of text := '';
    question record;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        now_of := CASE
            WHEN NEW.state = 'waiting' AND NEW.stale_why = '' THEN 'draft'
            WHEN NEW.state = 'waiting' THEN 'lapsed'
            WHEN NEW.state = 'failed' THEN 'failed'
            WHEN NEW.state = 'unknown' AND NEW.needs_person THEN 'unknown'
            ELSE '' END;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM desk_items WHERE item_id = OLD.id
            AND kind IN ('draft', 'lapsed', 'failed', 'unknown') AND kind <> now_of;
    END IF;
    IF now_of = '' THEN
        RETURN NULL;
    END IF;
    SELECT author, left(content, 400) AS content INTO question
        FROM messages WHERE id = NEW.target_id;
    PERFORM desk_put(
        now_of, NEW.id, NEW.account_id, NEW.agent,
        CASE now_of WHEN 'draft' THEN NEW.made_at
                    WHEN 'lapsed' THEN coalesce(NEW.stale_at, NEW.made_at)
                    ELSE coalesce(NEW.asked_at, NEW.decided_at, NEW.made_at) END,
        CASE WHEN NEW.state = 'waiting' THEN NEW.expires_at END,
        CASE now_of WHEN 'draft' THEN 0 WHEN 'lapsed' THEN 1 ELSE 2 END,
        coalesce(question.author, ''),
        concat_ws(' ', nullif(NEW.title, ''), left(NEW.text, 400), question.content));
    IF now_of = 'failed' THEN
        DELETE FROM desk_items WHERE kind = 'given_up' AND item_id = NEW.target_id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER desk_new_draft AFTER INSERT ON surfaces_draft FOR EACH ROW
    WHEN (NEW.state IN ('waiting', 'failed', 'unknown')) EXECUTE FUNCTION desk_keep_draft();
CREATE TRIGGER desk_changed_draft AFTER UPDATE OF
    state, stale_why, stale_at, needs_person, text, title, agent, expires_at ON surfaces_draft
    FOR EACH ROW
    WHEN (OLD.state IN ('waiting', 'failed', 'unknown')
          OR NEW.state IN ('waiting', 'failed', 'unknown'))
    EXECUTE FUNCTION desk_keep_draft();
CREATE TRIGGER desk_gone_draft AFTER DELETE ON surfaces_draft FOR EACH ROW
    WHEN (OLD.state IN ('waiting', 'failed', 'unknown')) EXECUTE FUNCTION desk_keep_draft();

CREATE FUNCTION desk_keep_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.is_on AND NEW.state IN ('auth_failed', 'suspended') THEN
        PERFORM desk_put('account', NEW.id, NEW.id, '', NEW.state_since, NULL, 2, NEW.name,
                         NEW.state_why);
    ELSE
        DELETE FROM desk_items WHERE kind = 'account' AND item_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER desk_new_account AFTER INSERT ON surfaces_account FOR EACH ROW
    WHEN (NEW.state IN ('auth_failed', 'suspended')) EXECUTE FUNCTION desk_keep_account();
CREATE TRIGGER desk_changed_account AFTER UPDATE OF state, state_why, is_on, name
    ON surfaces_account FOR EACH ROW
    WHEN (OLD.state IN ('auth_failed', 'suspended') OR NEW.state IN ('auth_failed', 'suspended'))
    EXECUTE FUNCTION desk_keep_account();

-- What waits already.
UPDATE messages SET spam_status = spam_status WHERE spam_status = 'suspect';
UPDATE messages SET reply_status = reply_status WHERE reply_status = 'failed';
UPDATE surfaces_draft SET state = state WHERE state IN ('waiting', 'failed', 'unknown');
UPDATE surfaces_account SET state = state WHERE state IN ('auth_failed', 'suspended');
"""
FORGET = """
DROP TRIGGER desk_new_message ON messages;
DROP TRIGGER desk_changed_message ON messages;
DROP TRIGGER desk_gone_message ON messages;
DROP TRIGGER desk_new_draft ON surfaces_draft;
DROP TRIGGER desk_changed_draft ON surfaces_draft;
DROP TRIGGER desk_gone_draft ON surfaces_draft;
DROP TRIGGER desk_new_account ON surfaces_account;
DROP TRIGGER desk_changed_account ON surfaces_account;
DROP FUNCTION desk_keep_message, desk_keep_draft, desk_keep_account, desk_put;
"""


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0003_what_a_voice_meant")]

    operations = [
        migrations.CreateModel(
            name="DeskItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("item_id", models.BigIntegerField()),
                ("agent", models.CharField(blank=True, max_length=64)),
                ("since", models.DateTimeField()),
                ("expires_at", models.DateTimeField(null=True)),
                (
                    "risk",
                    models.PositiveSmallIntegerField(
                        choices=[(0, "low"), (1, "some"), (2, "high")], default=0
                    ),
                ),
                ("author", models.CharField(blank=True, max_length=200)),
                (
                    "words",
                    models.TextField(
                        blank=True, help_text="The beginning of what was said, for search."
                    ),
                ),
                ("later_until", models.DateTimeField(null=True)),
                ("later_by", models.CharField(blank=True, max_length=120)),
            ],
            options={
                "db_table": "desk_items",
            },
        ),
        migrations.CreateModel(
            name="DeskReader",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("item_id", models.BigIntegerField()),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
            ],
            options={
                "db_table": "desk_readers",
                "ordering": ["since", "id"],
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60)),
                ("query", models.CharField(blank=True, max_length=1000)),
                ("is_shared", models.BooleanField(default=False)),
                ("made_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "db_table": "desk_saved_views",
                "ordering": ["name", "id"],
            },
        ),
        migrations.AddField(
            model_name="draft",
            name="expires_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(
                condition=models.Q(("expires_at__isnull", False), ("state", "waiting")),
                fields=["expires_at"],
                name="draft_expiring",
            ),
        ),
        migrations.AddField(
            model_name="deskitem",
            name="account",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="surfaces.account",
            ),
        ),
        migrations.AddField(
            model_name="deskreader",
            name="operator",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="savedview",
            name="operator",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="saved_views",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="deskitem",
            index=models.Index(fields=["since", "id"], name="desk_oldest"),
        ),
        migrations.AddIndex(
            model_name="deskitem",
            index=models.Index(fields=["kind", "since", "id"], name="desk_of_kind"),
        ),
        migrations.AddIndex(
            model_name="deskitem",
            index=models.Index(fields=["-risk", "since", "id"], name="desk_risk"),
        ),
        migrations.AddIndex(
            model_name="deskitem",
            index=models.Index(fields=["account", "since", "id"], name="desk_of_account"),
        ),
        migrations.AddIndex(
            model_name="deskitem",
            index=models.Index(
                condition=models.Q(("agent", ""), _negated=True),
                fields=["agent", "since", "id"],
                name="desk_of_agent",
            ),
        ),
        migrations.AddIndex(
            model_name="deskitem",
            index=models.Index(
                condition=models.Q(("expires_at__isnull", False)),
                fields=["expires_at", "id"],
                name="desk_expiring",
            ),
        ),
        migrations.AddConstraint(
            model_name="deskitem",
            constraint=models.UniqueConstraint(fields=("kind", "item_id"), name="desk_item_once"),
        ),
        migrations.AddConstraint(
            model_name="deskitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("risk__in", [0, 1, 2])), name="desk_risk_is_known"
            ),
        ),
        migrations.AddIndex(
            model_name="deskreader",
            index=models.Index(fields=["until"], name="desk_reader_until"),
        ),
        migrations.AddConstraint(
            model_name="deskreader",
            constraint=models.UniqueConstraint(
                fields=("kind", "item_id", "operator"), name="desk_reader_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="savedview",
            constraint=models.UniqueConstraint(
                fields=("operator", "name"), name="saved_view_one_per_name"
            ),
        ),
        migrations.RunSQL(KEEP, FORGET),
    ]
