"""The demo and the rest are kept apart.

Agents of the demo are marked. One that an operator connected to an account outside the demo stays
there as that operator's own agent, without what it has from the demo: persona, topic seeds,
automatic posts, and the posts written from those seeds that were not sent.
"""

from django.db import migrations, models

MARK = """
CREATE TEMPORARY TABLE of_demo ON COMMIT DROP AS
SELECT g.id, g.slug, EXISTS (
    SELECT 1 FROM dialogue_presence p JOIN surfaces_account a ON a.id = p.account_id
    WHERE p.agent_id = g.id AND p.ended_at IS NULL AND NOT a.is_demo) AS speaks_outside
FROM dialogue_agent g JOIN surfaces_auditevent e
    ON e.subject = 'agent:' || g.slug AND e.action = 'agent.made' AND e.actor = 'demo';

UPDATE dialogue_agent SET is_demo = true
WHERE id IN (SELECT id FROM of_demo WHERE NOT speaks_outside);

UPDATE dialogue_presence p SET ended_at = now() FROM dialogue_agent g, surfaces_account a
WHERE g.id = p.agent_id AND a.id = p.account_id AND p.ended_at IS NULL AND g.is_demo <> a.is_demo;

UPDATE dialogue_agentsettings SET lays_stones = false
WHERE agent_id IN (SELECT id FROM of_demo WHERE speaks_outside);

UPDATE dialogue_agent SET persona = ''
WHERE id IN (SELECT id FROM of_demo WHERE speaks_outside) AND (
    starts_with(persona, 'You take part in a small community that talks about tides, tools')
    OR starts_with(persona, 'You notice what was mended, moved or left away, and you ask'));

CREATE TEMPORARY TABLE demo_kernel ON COMMIT DROP AS
SELECT k.id FROM dialogue_kernel k JOIN of_demo o ON o.id = k.agent_id AND o.speaks_outside
WHERE k.words IN (
    'What does a list leave out when it is complete?',
    'The difference between waiting and being early.',
    'A promise that only works while both keep looking.',
    'What a tool knows about the hand that held it before.',
    'How do you tell that somebody has stopped listening?',
    'What is a mistake that turned out to hold?',
    'Something that was left out on purpose and is missed by nobody.',
    'When does a scar become a pattern?');
UPDATE dialogue_kernel SET is_on = false WHERE id IN (SELECT id FROM demo_kernel);
UPDATE surfaces_draft SET state = 'withdrawn', why = '{"code": "sending.demo_only"}'
WHERE state IN ('composed', 'waiting', 'approved') AND id IN (
    SELECT draft_id FROM dialogue_stone WHERE kernel_id IN (SELECT id FROM demo_kernel));
UPDATE dialogue_stone SET state = 'given_up', outcome = '{"code": "sending.demo_only"}'
WHERE state = 'chosen' AND kernel_id IN (SELECT id FROM demo_kernel);

INSERT INTO surfaces_auditevent (at, action, actor, subject, agent, why, facts)
SELECT now(), 'agent.changed', 'colloquy', 'agent:' || slug, slug,
    '{"code": "agent.left_demo"}', '{}'
FROM of_demo WHERE speaks_outside;
"""

KEEP_APART = """
CREATE FUNCTION demo_speaks_in_the_demo() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the demo and other accounts are kept apart'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'demo_speaks_in_the_demo';
END $$;

CREATE FUNCTION demo_presence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT is_demo FROM dialogue_agent WHERE id = NEW.agent_id)
        <> (SELECT is_demo FROM surfaces_account WHERE id = NEW.account_id) THEN
        RAISE EXCEPTION 'the demo and other accounts are kept apart'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'demo_speaks_in_the_demo';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER demo_presence BEFORE INSERT OR UPDATE OF agent_id, account_id, ended_at
    ON dialogue_presence FOR EACH ROW WHEN (NEW.ended_at IS NULL) EXECUTE FUNCTION demo_presence();

CREATE FUNCTION demo_draft() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT is_demo FROM dialogue_agent WHERE slug = NEW.agent)
        <> (SELECT is_demo FROM surfaces_account WHERE id = NEW.account_id) THEN
        RAISE EXCEPTION 'the demo and other accounts are kept apart'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'demo_speaks_in_the_demo';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER demo_draft BEFORE INSERT OR UPDATE OF agent, account_id
    ON surfaces_draft FOR EACH ROW WHEN (NEW.agent <> '') EXECUTE FUNCTION demo_draft();

CREATE TRIGGER demo_agent_stays BEFORE UPDATE OF is_demo ON dialogue_agent FOR EACH ROW
    WHEN (OLD.is_demo <> NEW.is_demo) EXECUTE FUNCTION demo_speaks_in_the_demo();
CREATE TRIGGER demo_account_stays BEFORE UPDATE OF is_demo ON surfaces_account FOR EACH ROW
    WHEN (OLD.is_demo <> NEW.is_demo) EXECUTE FUNCTION demo_speaks_in_the_demo();
"""

MIX_AGAIN = """
DROP TRIGGER demo_account_stays ON surfaces_account;
DROP TRIGGER demo_agent_stays ON dialogue_agent;
DROP TRIGGER demo_draft ON surfaces_draft;
DROP TRIGGER demo_presence ON dialogue_presence;
DROP FUNCTION demo_draft, demo_presence, demo_speaks_in_the_demo;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('dialogue', '0002_notification_waits'),
        ('surfaces', '0008_account_is_demo'),
    ]

    operations = [
        migrations.AddField(
            model_name='agent',
            name='is_demo',
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.RunSQL(MARK, migrations.RunSQL.noop),
        migrations.RunSQL(KEEP_APART, MIX_AGAIN),
    ]
