"""Make the ledger refuse every change but an addition."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION colloquy_refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger cannot be edited: % refused', TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER ledger_is_append_only BEFORE UPDATE OR DELETE ON surfaces_auditevent
    FOR EACH ROW EXECUTE FUNCTION colloquy_refuse_ledger_change();
CREATE TRIGGER ledger_is_never_emptied BEFORE TRUNCATE ON surfaces_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION colloquy_refuse_ledger_change();
"""
BACKWARD = """
DROP TRIGGER ledger_is_never_emptied ON surfaces_auditevent;
DROP TRIGGER ledger_is_append_only ON surfaces_auditevent;
DROP FUNCTION colloquy_refuse_ledger_change();
"""


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0001_ground_floor")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
