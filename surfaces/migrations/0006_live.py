"""Say that the desk or a pause changed, so that open pages can be told.

A payload names only what changed: PostgreSQL folds equal ones of a transaction into one, so a
hundred thousand suspects stored at once are one notice.
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION colloquy_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('colloquy', TG_ARGV[0]);
    RETURN NULL;
END
$$;
CREATE TRIGGER live_desk AFTER INSERT OR DELETE ON desk_items
    FOR EACH ROW EXECUTE FUNCTION colloquy_tell('desk');
CREATE TRIGGER live_desk_changed AFTER UPDATE ON desk_items
    FOR EACH ROW WHEN (OLD.later_until IS DISTINCT FROM NEW.later_until)
    EXECUTE FUNCTION colloquy_tell('desk');
CREATE TRIGGER live_pause AFTER INSERT OR UPDATE OR DELETE ON surfaces_pause
    FOR EACH ROW EXECUTE FUNCTION colloquy_tell('pause');
"""
BACKWARD = """
DROP TRIGGER live_pause ON surfaces_pause;
DROP TRIGGER live_desk_changed ON desk_items;
DROP TRIGGER live_desk ON desk_items;
DROP FUNCTION colloquy_tell();
"""


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0005_operators")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
