
import django.contrib.auth.validators
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
import django.utils.timezone
import re
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Account',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='How operators call it.', max_length=120, unique=True)),
                ('handle', models.CharField(blank=True, max_length=120)),
                ('remote_id', models.CharField(blank=True, max_length=200)),
                ('sealed_credential', models.BinaryField(default=b'')),
                ('mode', models.CharField(choices=[('auto', 'Auto: replies are sent without review'), ('review', 'Review: an operator approves each reply'), ('shadow', 'Shadow: replies are written but not sent'), ('off', 'Off: no reply is written')], default='review', max_length=8)),
                ('is_on', models.BooleanField(default=True)),
                ('every', models.PositiveSmallIntegerField(default=5, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1440)], verbose_name='minutes between rounds')),
                ('next_watch_at', models.DateTimeField()),
                ('watch_lease_until', models.DateTimeField(blank=True, null=True)),
                ('watched_by', models.CharField(blank=True, max_length=120)),
                ('watch_number', models.PositiveBigIntegerField(default=0)),
                ('cursor', models.JSONField(blank=True, default=dict)),
                ('state', models.CharField(choices=[('ok', 'Working'), ('limited', 'Limited'), ('auth_failed', 'Sign-in failed'), ('suspended', 'Suspended'), ('down', 'Down')], default='ok', max_length=12)),
                ('state_since', models.DateTimeField()),
                ('state_until', models.DateTimeField(blank=True, null=True)),
                ('state_why', models.JSONField(blank=True, default=dict)),
                ('quiet_until', models.DateTimeField(blank=True, help_text='The service asked the sender to wait until then.', null=True)),
                ('challenges_failed', models.PositiveSmallIntegerField(default=0)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='HubCommunity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=64, unique=True, validators=[django.core.validators.RegexValidator(re.compile('^[-a-zA-Z0-9_]+\\Z'), 'Enter a valid “slug” consisting of letters, numbers, underscores or hyphens.', 'invalid')])),
                ('name', models.CharField(max_length=80)),
                ('description', models.TextField(blank=True)),
                ('made_at', models.DateTimeField()),
                ('is_demo', models.BooleanField(default=False)),
            ],
            options={
                'verbose_name_plural': 'hub communities',
                'ordering': ['slug'],
            },
        ),
        migrations.CreateModel(
            name='Operator',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('role', models.CharField(choices=[('viewer', 'Viewer: reads everything, decides nothing'), ('moderator', 'Moderator: decides on comments and drafts, pauses'), ('admin', 'Admin: also connects accounts, changes settings and manages operators')], default='viewer', max_length=12)),
                ('time_zone', models.CharField(default='UTC', max_length=64)),
                ('has_first_password', models.BooleanField(default=False, help_text='Still signs in with the password printed at the first start.')),
                ('first_run_is_over', models.BooleanField(default=False, help_text='Put the list of first steps away.')),
                ('language', models.CharField(blank=True, choices=[('', 'As the browser asks'), ('en', 'English'), ('zh-hans', '简体中文')], default='', max_length=8)),
                ('agents', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, size=None)),
                ('owes_password', models.BooleanField(default=False, help_text='Was handed a password; nothing opens before it is changed.')),
                ('sign_outs', models.PositiveIntegerField(default=0, editable=False)),
                ('sealed_totp', models.BinaryField(default=b'')),
                ('totp_since', models.DateTimeField(blank=True, editable=False, null=True)),
                ('totp_step', models.BigIntegerField(default=0, editable=False)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'operator',
                'verbose_name_plural': 'users',
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='HubAuthor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('display_name', models.CharField(blank=True, max_length=80)),
                ('is_bot', models.BooleanField(default=False)),
                ('key_digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('made_at', models.DateTimeField()),
                ('is_demo', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('name'), name='hub_author_name_once')],
            },
        ),
        migrations.CreateModel(
            name='HubClock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ticks', models.PositiveBigIntegerField(default=0)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='hub_clock_is_one_row')],
            },
        ),
        migrations.CreateModel(
            name='HubPost',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(blank=True, max_length=300)),
                ('content', models.TextField(blank=True)),
                ('made_at', models.DateTimeField()),
                ('edited_at', models.DateTimeField(blank=True, null=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('comment_count', models.PositiveIntegerField(default=0)),
                ('last_activity_at', models.DateTimeField()),
                ('stirred', models.PositiveBigIntegerField(help_text="The hub's tick at the last change.")),
                ('idempotency_key', models.CharField(blank=True, max_length=200)),
                ('search', models.GeneratedField(db_persist=True, expression=django.contrib.postgres.search.SearchVector('title', 'content', config='simple'), output_field=django.contrib.postgres.search.SearchVectorField())),
                ('author', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='posts', to='surfaces.hubauthor')),
                ('community', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='posts', to='surfaces.hubcommunity')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='HubComment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='Its place in the thread, from 1.')),
                ('content', models.TextField(blank=True)),
                ('depth', models.PositiveSmallIntegerField(default=0)),
                ('made_at', models.DateTimeField()),
                ('edited_at', models.DateTimeField(blank=True, null=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('idempotency_key', models.CharField(blank=True, max_length=200)),
                ('author', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='comments', to='surfaces.hubauthor')),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='surfaces.hubcomment')),
                ('post', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='surfaces.hubpost')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='HubRead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('comments_seen', models.PositiveIntegerField(default=0)),
                ('author', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='reads', to='surfaces.hubauthor')),
                ('post', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reads', to='surfaces.hubpost')),
            ],
        ),
        migrations.CreateModel(
            name='InstanceSettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(default='Colloquy', max_length=80)),
                ('language', models.CharField(choices=[('en', 'English'), ('zh-hans', '简体中文')], default='en', max_length=10)),
                ('undo_seconds', models.PositiveSmallIntegerField(default=10, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(60)])),
                ('drafts_wait_hours', models.PositiveSmallIntegerField(default=0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(720)])),
                ('suspect_from', models.FloatField(default=0.4, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('spam_from', models.FloatField(default=0.9, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('updated_at', models.DateTimeField(blank=True, null=True)),
                ('updated_by', models.CharField(blank=True, max_length=120)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='house_is_one_row'), models.CheckConstraint(condition=models.Q(('language__in', ['en', 'zh-hans'])), name='house_language_is_known'), models.CheckConstraint(condition=models.Q(('undo_seconds__range', (0, 60))), name='house_undo_0_to_60_seconds'), models.CheckConstraint(condition=models.Q(('drafts_wait_hours__range', (0, 720))), name='house_drafts_wait_0_to_720_hours'), models.CheckConstraint(condition=models.Q(('spam_from__lte', 1), ('suspect_from__gt', 0), ('suspect_from__lt', models.F('spam_from'))), name='house_suspect_below_spam', violation_error_message='Suspect must begin below spam: 0 < suspect < spam ≤ 1.')],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('remote_id', models.CharField(max_length=500)),
                ('created_at', models.DateTimeField(help_text="The surface's time.")),
                ('kind', models.CharField(choices=[('post', 'Post'), ('comment', 'Comment')], max_length=8)),
                ('author', models.CharField(max_length=200)),
                ('direction', models.CharField(choices=[('incoming', 'Incoming'), ('outgoing', 'Outgoing')], max_length=8)),
                ('title', models.TextField(blank=True)),
                ('content', models.TextField(blank=True)),
                ('url', models.TextField(blank=True)),
                ('submolt', models.CharField(blank=True, max_length=200, verbose_name='community')),
                ('raw_json', models.JSONField(blank=True, default=dict)),
                ('reply_status', models.CharField(blank=True, choices=[('pending', 'Pending'), ('sent', 'Sent'), ('failed', 'Failed')], max_length=8, null=True)),
                ('reply_attempts', models.PositiveSmallIntegerField(default=0)),
                ('spam_status', models.CharField(blank=True, choices=[('spam', 'Spam'), ('clean', 'Clean'), ('suspect', 'Suspect')], max_length=8, null=True)),
                ('author_id', models.CharField(blank=True, max_length=200)),
                ('author_is_bot', models.BooleanField(blank=True, null=True)),
                ('seen_at', models.DateTimeField()),
                ('edited_at', models.DateTimeField(blank=True, null=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('reply_why', models.JSONField(blank=True, default=dict, help_text='Why it failed, or was passed.')),
                ('spam_score', models.FloatField(blank=True, null=True)),
                ('spam_reasons', models.JSONField(blank=True, default=list)),
                ('fingerprint', models.CharField(blank=True, max_length=32)),
                ('comment_count', models.PositiveIntegerField(blank=True, null=True)),
                ('thread_read_at', models.DateTimeField(blank=True, null=True)),
                ('thread_is_whole', models.BooleanField(blank=True, null=True)),
                ('search', models.GeneratedField(db_persist=True, expression=django.contrib.postgres.search.SearchVector('title', 'content', 'author', config='simple'), output_field=django.contrib.postgres.search.SearchVectorField())),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='surfaces.account')),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='children', to='surfaces.message')),
                ('post', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='thread', to='surfaces.message')),
            ],
            options={
                'db_table': 'messages',
            },
        ),
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('what', models.CharField(choices=[('reply', 'Reply to a comment'), ('comment', 'Comment on a post'), ('post', 'New post')], max_length=8)),
                ('title', models.CharField(blank=True, max_length=300)),
                ('text', models.TextField()),
                ('community', models.CharField(blank=True, max_length=200)),
                ('agent', models.CharField(blank=True, help_text='Slug of who speaks, if any.', max_length=64)),
                ('origin', models.CharField(default='hand', help_text="hand, or a voice's name.", max_length=40)),
                ('terms', models.TextField(blank=True)),
                ('pointer', models.TextField(blank=True)),
                ('exit', models.TextField(blank=True)),
                ('state', models.CharField(choices=[('composed', 'composed'), ('waiting', 'waiting'), ('approved', 'approved'), ('sending', 'sending'), ('sent', 'sent'), ('unknown', 'unconfirmed'), ('failed', 'failed'), ('withdrawn', 'withdrawn'), ('shadowed', 'shadowed')], default='composed', max_length=10)),
                ('made_by', models.CharField(max_length=120)),
                ('made_at', models.DateTimeField()),
                ('decided_by', models.CharField(blank=True, max_length=120)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('approved_digest', models.CharField(blank=True, max_length=64)),
                ('why', models.JSONField(blank=True, default=dict, help_text='Why it is in this state, for people.')),
                ('judged', models.CharField(blank=True, choices=[('as_written', 'Approved as written'), ('edited', 'Approved with edits'), ('rejected', 'Rejected'), ('sent_back', 'Sent back with a note')], max_length=10)),
                ('was_edited', models.BooleanField(default=False)),
                ('stale_why', models.JSONField(blank=True, default=dict)),
                ('stale_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('not_before', models.DateTimeField(blank=True, null=True)),
                ('sendings', models.PositiveSmallIntegerField(default=0)),
                ('claim_number', models.PositiveIntegerField(default=0)),
                ('claimed_by', models.CharField(blank=True, max_length=120)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('remote_id', models.CharField(blank=True, max_length=500)),
                ('challenge', models.JSONField(blank=True, null=True)),
                ('asked_at', models.DateTimeField(blank=True, null=True)),
                ('look_at', models.DateTimeField(blank=True, null=True)),
                ('looks', models.PositiveSmallIntegerField(default=0)),
                ('absences', models.PositiveSmallIntegerField(default=0)),
                ('needs_person', models.BooleanField(default=False)),
                ('sender_died', models.BooleanField(default=False)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('retracted_at', models.DateTimeField(blank=True, null=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='drafts', to='surfaces.account')),
                ('message', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='draft', to='surfaces.message')),
                ('target', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='drafts', to='surfaces.message')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='NoticeCursor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('through', models.BigIntegerField(default=0)),
                ('candidate', models.BigIntegerField(default=0)),
                ('horizon', models.BigIntegerField(default=0)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='notice_mark_is_one_row')],
            },
        ),
        migrations.CreateModel(
            name='NoticeRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(choices=[('page', 'In the app'), ('mail', 'Email'), ('webhook', 'Webhook')], default='page', max_length=8)),
                ('is_on', models.BooleanField(default=True)),
                ('hears_items', models.BooleanField(default=False)),
                ('hears_expiring', models.BooleanField(default=True)),
                ('hears_down', models.BooleanField(default=True)),
                ('hears_house', models.BooleanField(default=True)),
                ('kinds', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), blank=True, default=list, size=None)),
                ('agents', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, size=None)),
                ('min_risk', models.PositiveSmallIntegerField(choices=[(0, 'low'), (1, 'some'), (2, 'high')], default=0)),
                ('expires_minutes', models.PositiveSmallIntegerField(default=30)),
                ('down_minutes', models.PositiveSmallIntegerField(default=10)),
                ('pace', models.CharField(choices=[('once', 'Immediately'), ('hours', 'Every few hours'), ('daily', 'Once a day')], default='once', max_length=6)),
                ('every_hours', models.PositiveSmallIntegerField(default=4)),
                ('daily_at', models.TimeField(blank=True, null=True)),
                ('quiet_from', models.TimeField(blank=True, null=True)),
                ('quiet_to', models.TimeField(blank=True, null=True)),
                ('urgent_breaks', models.BooleanField(default=True)),
                ('url', models.CharField(blank=True, max_length=500)),
                ('sealed_secret', models.BinaryField(default=b'')),
                ('from_item', models.BigIntegerField(default=0)),
                ('since', models.DateTimeField()),
                ('last_told_at', models.DateTimeField(blank=True, null=True)),
                ('operator', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notice_rules', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='NoticeDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('is_test', models.BooleanField(default=False)),
                ('made_at', models.DateTimeField()),
                ('due_at', models.DateTimeField()),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('told', 'delivered'), ('failed', 'failed'), ('dropped', 'not sent')], default='waiting', max_length=8)),
                ('told_at', models.DateTimeField(blank=True, null=True)),
                ('count', models.PositiveIntegerField(default=0)),
                ('why', models.JSONField(blank=True, default=dict)),
                ('rule', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='surfaces.noticerule')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('way', models.CharField(max_length=24)),
                ('subject', models.CharField(max_length=120)),
                ('reason', models.CharField(choices=[('waits', 'Needs a decision'), ('expires', 'Expires'), ('down', 'Down'), ('back', 'Recovered'), ('paused', 'Paused'), ('house', 'Instance')], max_length=8)),
                ('desk_item', models.BigIntegerField(null=True)),
                ('kind', models.CharField(blank=True, max_length=20)),
                ('item_id', models.BigIntegerField(null=True)),
                ('agent', models.CharField(blank=True, max_length=64)),
                ('author', models.CharField(blank=True, max_length=80)),
                ('words', models.JSONField(blank=True, default=dict)),
                ('moment', models.DateTimeField()),
                ('is_urgent', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('due', 'due'), ('told', 'delivered'), ('handled', 'handled'), ('dropped', 'skipped')], default='due', max_length=8)),
                ('why', models.JSONField(blank=True, default=dict)),
                ('made_at', models.DateTimeField()),
                ('due_at', models.DateTimeField()),
                ('told_at', models.DateTimeField(null=True)),
                ('is_on_page', models.BooleanField(default=False)),
                ('read_at', models.DateTimeField(null=True)),
                ('over_at', models.DateTimeField(null=True)),
                ('account', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='surfaces.account')),
                ('operator', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notices', to=settings.AUTH_USER_MODEL)),
                ('delivery', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='notices', to='surfaces.noticedelivery')),
                ('rule', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='notices', to='surfaces.noticerule')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Pause',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scope', models.CharField(choices=[('all', 'Everything'), ('surface', 'Surface'), ('account', 'Account'), ('agent', 'Agent')], max_length=8)),
                ('subject', models.CharField(blank=True, max_length=120)),
                ('why', models.JSONField(blank=True, default=dict)),
                ('by', models.CharField(max_length=120)),
                ('since', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('ended_by', models.CharField(blank=True, max_length=120)),
            ],
            options={
                'ordering': ['-since'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('scope', 'subject'), name='pause_one_live_per_subject'), models.CheckConstraint(condition=models.Q(models.Q(('scope', 'all'), ('subject', '')), models.Q(models.Q(('scope', 'all'), _negated=True), models.Q(('subject', ''), _negated=True)), _connector='OR'), name='pause_names_its_subject')],
            },
        ),
        migrations.CreateModel(
            name='RateLimitWindow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('holder', models.CharField(max_length=120)),
                ('bucket', models.CharField(max_length=40)),
                ('used', models.PositiveIntegerField(default=0)),
                ('window_ends_at', models.DateTimeField()),
                ('blocked_until', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('holder', 'bucket'), name='allowance_one_per_bucket')],
            },
        ),
        migrations.CreateModel(
            name='RecoveryCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('operator', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recovery_codes', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('query', models.CharField(blank=True, max_length=1000)),
                ('is_shared', models.BooleanField(default=False)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('operator', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'desk_saved_views',
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='SignInAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('username', models.CharField(max_length=150)),
                ('network', models.CharField(max_length=43)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-at'],
                'indexes': [models.Index(fields=['network', 'username', 'at'], name='sign_in_network'), models.Index(fields=['at'], name='sign_in_at')],
            },
        ),
        migrations.CreateModel(
            name='SpamDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_spam', models.BooleanField()),
                ('tokens', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), size=None)),
                ('filter_status', models.CharField(blank=True, max_length=8)),
                ('filter_score', models.FloatField(null=True)),
                ('signs', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), default=list, size=None)),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
                ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='spam_decision', to='surfaces.message')),
            ],
        ),
        migrations.CreateModel(
            name='SpamToken',
            fields=[
                ('token', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('in_spam', models.PositiveIntegerField(default=0)),
                ('in_clean', models.PositiveIntegerField(default=0)),
                ('is_forgotten', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'indexes': [models.Index(models.OrderBy(django.db.models.expressions.CombinedExpression(models.F('in_spam'), '+', models.F('in_clean')), descending=True), models.F('token'), name='spam_token_seen'), models.Index(models.OrderBy(django.db.models.expressions.CombinedExpression(models.F('in_spam'), '-', django.db.models.expressions.CombinedExpression(models.Value(3), '*', models.F('in_clean'))), descending=True), models.F('token'), condition=models.Q(('in_spam__gte', 2)), name='spam_token_for_spam'), models.Index(models.OrderBy(django.db.models.expressions.CombinedExpression(models.F('in_clean'), '-', django.db.models.expressions.CombinedExpression(models.Value(3), '*', models.F('in_spam'))), descending=True), models.F('token'), condition=models.Q(('in_clean__gte', 2)), name='spam_token_for_clean')],
            },
        ),
        migrations.CreateModel(
            name='Surface',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=64, unique=True, validators=[django.core.validators.RegexValidator(re.compile('^[-a-zA-Z0-9_]+\\Z'), 'Enter a valid “slug” consisting of letters, numbers, underscores or hyphens.', 'invalid')])),
                ('name', models.CharField(max_length=80)),
                ('kind', models.CharField(max_length=32)),
                ('base_url', models.URLField(blank=True, help_text="Empty: the service's own address.", max_length=300)),
                ('dialect', models.CharField(blank=True, help_text="Which of the service's ways of writing is meant.", max_length=32)),
                ('limits', models.JSONField(blank=True, default=dict, help_text='Our own budgets, e.g. {"comment": [50, 3600]}: 50 requests in 3600 s.')),
                ('is_on', models.BooleanField(default=True, help_text='Off: neither read nor written.')),
                ('made_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('kind', 'base_url'), name='surface_once_per_address')],
            },
        ),
        migrations.AddField(
            model_name='noticerule',
            name='surfaces',
            field=models.ManyToManyField(blank=True, related_name='+', to='surfaces.surface'),
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('prefix', models.CharField(help_text='Its first letters, shown in lists.', max_length=8)),
                ('digest', models.CharField(max_length=64)),
                ('agent', models.CharField(blank=True, max_length=64)),
                ('scope', models.CharField(choices=[('read', 'Read: sees what is within its limits'), ('write', 'Write: also decides, as far as its owner may')], default='read', max_length=5)),
                ('agents', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, size=None)),
                ('made_by', models.CharField(max_length=120)),
                ('made_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('operator', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='api_keys', to=settings.AUTH_USER_MODEL)),
                ('surfaces', models.ManyToManyField(blank=True, related_name='+', to='surfaces.surface')),
            ],
            options={
                'verbose_name': 'API key',
                'ordering': ['-id'],
            },
        ),
        migrations.AddField(
            model_name='account',
            name='surface',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='accounts', to='surfaces.surface'),
        ),
        migrations.AddField(
            model_name='operator',
            name='surfaces',
            field=models.ManyToManyField(blank=True, related_name='+', to='surfaces.surface'),
        ),
        migrations.CreateModel(
            name='WatchRound',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField()),
                ('outcome', models.JSONField(blank=True, default=dict)),
                ('requests', models.PositiveIntegerField(default=0)),
                ('threads', models.PositiveIntegerField(default=0)),
                ('seen', models.PositiveIntegerField(default=0)),
                ('stored', models.PositiveIntegerField(default=0)),
                ('edited', models.PositiveIntegerField(default=0)),
                ('deleted', models.PositiveIntegerField(default=0)),
                ('suspect', models.PositiveIntegerField(default=0)),
                ('spam', models.PositiveIntegerField(default=0)),
                ('skipped', models.PositiveIntegerField(default=0)),
                ('skipped_why', models.JSONField(default=list)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rounds', to='surfaces.account')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('web', 'Web'), ('watcher', 'Watcher'), ('sender', 'Sender'), ('replier', 'Replier'), ('tasks', 'Worker')], max_length=8)),
                ('name', models.CharField(help_text='For people, e.g. watcher.', max_length=60)),
                ('host', models.CharField(max_length=60)),
                ('pid', models.PositiveIntegerField()),
                ('started_at', models.DateTimeField()),
                ('beat_at', models.DateTimeField()),
                ('doing', models.CharField(blank=True, help_text='Empty: it waits for work.', max_length=120)),
                ('doing_since', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'db_table': 'workers',
                'ordering': ['kind', 'host', 'pid'],
                'constraints': [models.UniqueConstraint(fields=('kind', 'host', 'pid'), name='worker_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['web', 'watcher', 'sender', 'replier', 'tasks'])), name='worker_kind_is_known')],
            },
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('action', models.CharField(max_length=64)),
                ('actor', models.CharField(max_length=120)),
                ('subject', models.CharField(max_length=120)),
                ('agent', models.CharField(blank=True, max_length=64)),
                ('why', models.JSONField(blank=True, default=dict)),
                ('facts', models.JSONField(default=dict)),
                ('account', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='surfaces.account')),
            ],
            options={
                'verbose_name': 'ledger line',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['subject', 'id'], name='ledger_subject'), models.Index(fields=['actor', '-id'], name='ledger_actor'), models.Index(fields=['action', '-id'], name='ledger_action'), models.Index(condition=models.Q(('account', None), _negated=True), fields=['account', '-id'], name='ledger_account'), models.Index(condition=models.Q(('agent', ''), _negated=True), fields=['agent', '-id'], name='ledger_agent')],
            },
        ),
        migrations.CreateModel(
            name='DeskItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('item_id', models.BigIntegerField()),
                ('agent', models.CharField(blank=True, max_length=64)),
                ('since', models.DateTimeField()),
                ('expires_at', models.DateTimeField(null=True)),
                ('risk', models.PositiveSmallIntegerField(choices=[(0, 'low'), (1, 'some'), (2, 'high')], default=0)),
                ('author', models.CharField(blank=True, max_length=200)),
                ('words', models.TextField(blank=True, help_text='The beginning of what was said, for search.')),
                ('sought', models.GeneratedField(db_persist=True, expression=django.db.models.functions.text.Lower(django.db.models.functions.text.Concat('words', models.Value('\n'), 'author', output_field=models.TextField())), output_field=models.TextField())),
                ('later_until', models.DateTimeField(null=True)),
                ('later_by', models.CharField(blank=True, max_length=120)),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='surfaces.account')),
            ],
            options={
                'db_table': 'desk_items',
                'indexes': [models.Index(fields=['since', 'id'], name='desk_oldest'), models.Index(fields=['kind', 'since', 'id'], name='desk_of_kind'), models.Index(fields=['-risk', 'since', 'id'], name='desk_risk'), models.Index(fields=['account', 'since', 'id'], name='desk_of_account'), models.Index(condition=models.Q(('agent', ''), _negated=True), fields=['agent', 'since', 'id'], name='desk_of_agent'), models.Index(condition=models.Q(('expires_at__isnull', False)), fields=['expires_at', 'id'], name='desk_expiring')],
                'constraints': [models.UniqueConstraint(fields=('kind', 'item_id'), name='desk_item_once'), models.CheckConstraint(condition=models.Q(('risk__in', [0, 1, 2])), name='desk_risk_is_known')],
            },
        ),
        migrations.CreateModel(
            name='DeskViewer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('item_id', models.BigIntegerField()),
                ('since', models.DateTimeField()),
                ('until', models.DateTimeField()),
                ('operator', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'desk_readers',
                'ordering': ['since', 'id'],
                'indexes': [models.Index(fields=['until'], name='desk_reader_until')],
                'constraints': [models.UniqueConstraint(fields=('kind', 'item_id', 'operator'), name='desk_reader_once')],
            },
        ),
        migrations.AddIndex(
            model_name='hubpost',
            index=models.Index(fields=['author', '-id'], name='hub_post_of_author'),
        ),
        migrations.AddIndex(
            model_name='hubpost',
            index=models.Index(fields=['community', '-id'], name='hub_post_of_community'),
        ),
        migrations.AddIndex(
            model_name='hubpost',
            index=models.Index(condition=models.Q(('deleted_at', None)), fields=['-last_activity_at', '-id'], name='hub_post_lively'),
        ),
        migrations.AddIndex(
            model_name='hubpost',
            index=models.Index(fields=['stirred'], name='hub_post_stirred'),
        ),
        migrations.AddIndex(
            model_name='hubpost',
            index=django.contrib.postgres.indexes.GinIndex(fields=['search'], name='hub_post_search'),
        ),
        migrations.AddConstraint(
            model_name='hubpost',
            constraint=models.UniqueConstraint(condition=models.Q(('idempotency_key', ''), _negated=True), fields=('author', 'idempotency_key'), name='hub_post_said_once_per_key'),
        ),
        migrations.AddConstraint(
            model_name='hubpost',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('content', ''), _negated=True), ('deleted_at__isnull', False), _connector='OR'), name='hub_post_has_words_until_deleted'),
        ),
        migrations.AddIndex(
            model_name='hubcomment',
            index=models.Index(fields=['author', 'post'], name='hub_comment_of_author'),
        ),
        migrations.AddConstraint(
            model_name='hubcomment',
            constraint=models.UniqueConstraint(fields=('post', 'number'), name='hub_comment_number_once'),
        ),
        migrations.AddConstraint(
            model_name='hubcomment',
            constraint=models.UniqueConstraint(condition=models.Q(('idempotency_key', ''), _negated=True), fields=('author', 'idempotency_key'), name='hub_comment_said_once_per_key'),
        ),
        migrations.AddConstraint(
            model_name='hubcomment',
            constraint=models.CheckConstraint(condition=models.Q(('depth__lte', 10)), name='hub_comment_depth_0_to_10'),
        ),
        migrations.AddConstraint(
            model_name='hubcomment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('depth', 0), ('parent', None)), models.Q(('depth__gte', 1), ('parent__isnull', False)), _connector='OR'), name='hub_comment_depth_fits_parent'),
        ),
        migrations.AddConstraint(
            model_name='hubcomment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('content', ''), _negated=True), ('deleted_at__isnull', False), _connector='OR'), name='hub_comment_has_words_until_deleted'),
        ),
        migrations.AddConstraint(
            model_name='hubread',
            constraint=models.UniqueConstraint(fields=('author', 'post'), name='hub_read_once_per_post'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(fields=['-created_at', '-id'], name='message_newest'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(fields=['account', '-created_at', '-id'], name='message_of_account'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(fields=['post', 'created_at', 'id'], name='message_thread'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('direction', 'incoming'), ('kind', 'comment'), models.Q(('reply_status', None), ('reply_status', 'pending'), _connector='OR'), ('spam_status', None)), fields=['-created_at', '-id'], name='message_awaiting'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('spam_status__isnull', False)), fields=['spam_status', '-created_at', '-id'], name='message_judged'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('reply_status__isnull', False)), fields=['reply_status', '-created_at', '-id'], name='message_reply_state'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('direction', 'outgoing')), fields=['direction', '-created_at', '-id'], name='message_ours'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('kind', 'post')), fields=['account', '-created_at', '-id'], name='message_posts'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('kind', 'post')), fields=['-created_at', '-id'], name='message_posts_newest'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('submolt', ''), _negated=True), fields=['submolt', '-created_at', '-id'], name='message_community'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(fields=['author', '-created_at', '-id'], name='message_author'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('fingerprint', ''), _negated=True), fields=['fingerprint', 'seen_at'], name='message_fingerprint'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('spam_score__gte', 0.1)), fields=['-seen_at'], name='message_scored'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=django.contrib.postgres.indexes.GinIndex(fields=['search'], name='message_search'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('account', 'remote_id'), name='message_stored_once'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['post', 'comment'])), name='message_kind_is_known'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('direction__in', ['incoming', 'outgoing'])), name='message_direction_is_known'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('reply_status', None), ('reply_status__in', ['pending', 'sent', 'failed']), _connector='OR'), name='message_reply_status_is_known'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('spam_status', None), ('spam_status__in', ['spam', 'clean', 'suspect']), _connector='OR'), name='message_spam_status_is_known'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('reply_attempts__lte', 10)), name='message_tried_at_most_10_times'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'post'), _negated=True), models.Q(('parent', None), ('post', models.F('id'))), _connector='OR'), name='message_post_is_its_own_root'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('parent', None), models.Q(('parent', models.F('id')), _negated=True), _connector='OR'), name='message_is_not_its_own_parent'),
        ),
        migrations.AddIndex(
            model_name='draft',
            index=models.Index(condition=models.Q(('state', 'approved')), fields=['not_before', 'id'], name='draft_due'),
        ),
        migrations.AddIndex(
            model_name='draft',
            index=models.Index(condition=models.Q(('state', 'sending')), fields=['lease_until'], name='draft_sending'),
        ),
        migrations.AddIndex(
            model_name='draft',
            index=models.Index(condition=models.Q(('state', 'unknown')), fields=['look_at'], name='draft_unknown'),
        ),
        migrations.AddIndex(
            model_name='draft',
            index=models.Index(condition=models.Q(('agent', ''), _negated=True), fields=['agent', '-id'], name='draft_of_agent'),
        ),
        migrations.AddIndex(
            model_name='draft',
            index=models.Index(condition=models.Q(('agent', ''), _negated=True), fields=['agent', 'sent_at'], name='draft_agent_sent'),
        ),
        migrations.AddIndex(
            model_name='draft',
            index=models.Index(condition=models.Q(('expires_at__isnull', False), ('state', 'waiting')), fields=['expires_at'], name='draft_expiring'),
        ),
        migrations.AddIndex(
            model_name='draft',
            index=models.Index(fields=['state', '-id'], name='draft_by_state'),
        ),
        migrations.AddIndex(
            model_name='draft',
            index=models.Index(condition=models.Q(('state', 'sent')), fields=['sent_at'], include=('agent', 'account'), name='draft_sent_at'),
        ),
        migrations.AddIndex(
            model_name='draft',
            index=models.Index(condition=models.Q(('state', 'shadowed')), fields=['made_at'], name='draft_shadowed'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.UniqueConstraint(condition=models.Q(('what', 'reply'), models.Q(('state__in', ['failed', 'withdrawn', 'shadowed']), _negated=True)), fields=('account', 'target'), name='draft_one_live_reply_per_comment_and_account'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['composed', 'waiting', 'approved', 'sending', 'sent', 'unknown', 'failed', 'withdrawn', 'shadowed'])), name='draft_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.CheckConstraint(condition=models.Q(('judged', ''), ('judged__in', ['as_written', 'edited', 'rejected', 'sent_back']), _connector='OR'), name='draft_judged_is_known'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('target', None), ('what', 'post')), models.Q(('target__isnull', False), ('what__in', ['reply', 'comment'])), _connector='OR'), name='draft_target_fits_what'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'sent'), _negated=True), ('sent_at__isnull', False), _connector='OR'), name='draft_sent_has_its_message'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['approved', 'sending']), _negated=True), models.Q(models.Q(('approved_digest', ''), _negated=True), ('not_before__isnull', False)), _connector='OR'), name='draft_approved_has_digest_and_time'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'sending'), _negated=True), ('lease_until__isnull', False), _connector='OR'), name='draft_sending_has_lease'),
        ),
        migrations.AddIndex(
            model_name='noticedelivery',
            index=models.Index(condition=models.Q(('state', 'waiting')), fields=['due_at'], name='notice_delivery_due'),
        ),
        migrations.AddIndex(
            model_name='noticedelivery',
            index=models.Index(fields=['rule', '-id'], name='notice_delivery_log'),
        ),
        migrations.AddIndex(
            model_name='noticedelivery',
            index=models.Index(fields=['made_at'], name='notice_delivery_old'),
        ),
        migrations.AddConstraint(
            model_name='noticedelivery',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'told', 'failed', 'dropped'])), name='notice_delivery_state_is_known'),
        ),
        migrations.AddIndex(
            model_name='notice',
            index=models.Index(condition=models.Q(('delivery', None), ('state', 'due')), fields=['rule', 'due_at'], name='notice_due'),
        ),
        migrations.AddIndex(
            model_name='notice',
            index=models.Index(condition=models.Q(('delivery__isnull', False)), fields=['delivery', '-is_urgent', 'id'], name='notice_of_delivery'),
        ),
        migrations.AddIndex(
            model_name='notice',
            index=models.Index(condition=models.Q(('is_on_page', True)), fields=['operator', '-id'], name='notice_on_page'),
        ),
        migrations.AddIndex(
            model_name='notice',
            index=models.Index(condition=models.Q(('is_on_page', True), ('read_at', None)), fields=['operator', 'desk_item'], name='notice_unread'),
        ),
        migrations.AddIndex(
            model_name='notice',
            index=models.Index(fields=['operator', '-id'], name='notice_log'),
        ),
        migrations.AddIndex(
            model_name='notice',
            index=models.Index(condition=models.Q(('over_at', None), ('reason', 'down')), fields=['account'], name='notice_outage'),
        ),
        migrations.AddIndex(
            model_name='notice',
            index=models.Index(fields=['made_at'], name='notice_old'),
        ),
        migrations.AddConstraint(
            model_name='notice',
            constraint=models.UniqueConstraint(fields=('operator', 'way', 'subject', 'reason'), name='notice_once'),
        ),
        migrations.AddConstraint(
            model_name='notice',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['due', 'told', 'handled', 'dropped'])), name='notice_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='notice',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['waits', 'expires', 'down', 'back', 'paused', 'house'])), name='notice_reason_is_known'),
        ),
        migrations.AddConstraint(
            model_name='recoverycode',
            constraint=models.UniqueConstraint(fields=('operator', 'digest'), name='recovery_code_once_per_operator'),
        ),
        migrations.AddConstraint(
            model_name='savedview',
            constraint=models.UniqueConstraint(fields=('operator', 'name'), name='saved_view_one_per_name'),
        ),
        migrations.AddIndex(
            model_name='spamdecision',
            index=models.Index(fields=['-at'], name='spam_decision_at'),
        ),
        migrations.AddConstraint(
            model_name='spamdecision',
            constraint=models.CheckConstraint(condition=models.Q(('filter_status__in', ['', 'spam', 'suspect', 'clean'])), name='spam_decision_filter_status_is_known'),
        ),
        migrations.AddConstraint(
            model_name='noticerule',
            constraint=models.CheckConstraint(condition=models.Q(('channel__in', ['page', 'mail', 'webhook'])), name='notice_rule_channel_is_known'),
        ),
        migrations.AddConstraint(
            model_name='noticerule',
            constraint=models.CheckConstraint(condition=models.Q(('pace__in', ['once', 'hours', 'daily'])), name='notice_rule_pace_is_known'),
        ),
        migrations.AddConstraint(
            model_name='noticerule',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('quiet_from', None), ('quiet_to', None)), models.Q(('quiet_from__isnull', False), ('quiet_to__isnull', False), models.Q(('quiet_from', models.F('quiet_to')), _negated=True)), _connector='OR'), name='notice_rule_quiet_has_two_ends'),
        ),
        migrations.AddConstraint(
            model_name='noticerule',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('pace', 'daily'), _negated=True), ('daily_at__isnull', False), _connector='OR'), name='notice_rule_daily_has_an_hour'),
        ),
        migrations.AddConstraint(
            model_name='noticerule',
            constraint=models.CheckConstraint(condition=models.Q(('expires_minutes__range', (1, 1440)), ('down_minutes__range', (0, 1440)), ('every_hours__range', (1, 12))), name='notice_rule_numbers_are_sane'),
        ),
        migrations.AddConstraint(
            model_name='apikey',
            constraint=models.UniqueConstraint(fields=('prefix',), name='api_key_prefix_once'),
        ),
        migrations.AddConstraint(
            model_name='apikey',
            constraint=models.CheckConstraint(condition=models.Q(('scope__in', ['read', 'write'])), name='api_key_scope_is_known'),
        ),
        migrations.AddConstraint(
            model_name='apikey',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('agent__gt', ''), ('operator', None)), models.Q(('agent', ''), ('operator__isnull', False)), _connector='OR'), name='api_key_has_one_owner'),
        ),
        migrations.AddIndex(
            model_name='account',
            index=models.Index(condition=models.Q(('is_on', True), models.Q(('state', 'auth_failed'), _negated=True)), fields=['next_watch_at'], name='account_due'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(condition=models.Q(('remote_id', ''), _negated=True), fields=('surface', 'remote_id'), name='account_one_per_name_on_a_surface'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('every__range', (1, 1440))), name='account_every_1_to_1440_minutes'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['ok', 'limited', 'auth_failed', 'suspended', 'down'])), name='account_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('mode__in', ['auto', 'review', 'shadow', 'off'])), name='account_mode_is_known'),
        ),
        migrations.AddConstraint(
            model_name='operator',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['viewer', 'moderator', 'admin'])), name='operator_role_is_known'),
        ),
        migrations.AddConstraint(
            model_name='operator',
            constraint=models.CheckConstraint(condition=models.Q(('language__in', ['', 'en', 'zh-hans'])), name='operator_language_is_known'),
        ),
        migrations.AddIndex(
            model_name='watchround',
            index=models.Index(fields=['account', '-id'], name='watch_round_latest'),
        ),
        migrations.AddIndex(
            model_name='watchround',
            index=models.Index(fields=['account', 'started_at'], include=('stored', 'spam'), name='watch_round_day'),
        ),
    ]
