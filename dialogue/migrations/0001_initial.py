
import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import re
import uuid
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('surfaces', '0002_triggers'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReadCursor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=16, unique=True)),
                ('through', models.PositiveBigIntegerField(default=0)),
                ('candidate', models.PositiveBigIntegerField(default=0)),
                ('horizon', models.PositiveBigIntegerField(default=0)),
                ('dealt_with', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, size=None)),
            ],
        ),
        migrations.CreateModel(
            name='Agent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=64, unique=True, validators=[django.core.validators.RegexValidator(re.compile('^[-a-zA-Z0-9_]+\\Z'), 'Enter a valid “slug” consisting of letters, numbers, underscores or hyphens.', 'invalid')])),
                ('name', models.CharField(max_length=80)),
                ('persona', models.TextField(blank=True, help_text='The system prompt.')),
                ('lives', models.CharField(choices=[('here', 'This instance'), ('elsewhere', 'An external agent (webhook)')], default='here', max_length=10)),
                ('timezone', models.CharField(default='UTC', max_length=64)),
                ('active_from', models.TimeField(blank=True, help_text='Empty: at any hour.', null=True)),
                ('active_to', models.TimeField(blank=True, null=True)),
                ('failures', models.PositiveIntegerField(default=0, help_text='Failed activations in a row.')),
                ('backs_off_until', models.DateTimeField(blank=True, null=True)),
                ('claims', models.PositiveBigIntegerField(default=0)),
                ('carried', models.JSONField(blank=True, default=dict)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['slug'],
                'constraints': [models.CheckConstraint(condition=models.Q(('lives__in', ['here', 'elsewhere'])), name='agent_lives_somewhere'), models.CheckConstraint(condition=models.Q(models.Q(('active_from', None), ('active_to', None)), models.Q(('active_from__isnull', False), ('active_to__isnull', False)), _connector='OR'), name='agent_hours_have_both_ends', violation_error_message='Enter both ends of the active hours, or neither.')],
            },
        ),
        migrations.CreateModel(
            name='Kernel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('words', models.CharField(max_length=1000)),
                ('is_on', models.BooleanField(default=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('used', models.PositiveIntegerField(default=0)),
                ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='kernels', to='dialogue.agent')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Memory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('words', models.TextField()),
                ('made_at', models.DateTimeField()),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='memories', to='dialogue.agent')),
                ('source', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='surfaces.message')),
            ],
            options={
                'verbose_name_plural': 'memories',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='ModelEndpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rank', models.PositiveSmallIntegerField(default=0)),
                ('model', models.CharField(help_text='provider:name, e.g. anthropic:claude-sonnet-4-5.', max_length=200)),
                ('base_url', models.CharField(blank=True, help_text="Empty: the provider's own address.", max_length=300)),
                ('sealed_key', models.BinaryField(default=b'')),
                ('output_style', models.CharField(choices=[('tool', 'Tool call'), ('native', 'JSON schema'), ('prompted', 'Prompted')], default='tool', max_length=8)),
                ('streams', models.BooleanField(default=False, help_text='Stream the response.')),
                ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='brains', to='dialogue.agent')),
            ],
            options={
                'ordering': ['agent', 'rank'],
            },
        ),
        migrations.CreateModel(
            name='Presence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('mode', models.CharField(blank=True, choices=[('auto', 'Auto: replies are sent without review'), ('review', 'Review: an operator approves each reply'), ('shadow', 'Shadow: replies are written but not sent'), ('off', 'Off: no reply is written')], help_text="Empty: as the agent's settings say.", max_length=8)),
                ('obeyed', models.CharField(blank=True, choices=[('auto', 'Auto: replies are sent without review'), ('review', 'Review: an operator approves each reply'), ('shadow', 'Shadow: replies are written but not sent'), ('off', 'Off: no reply is written')], editable=False, max_length=8)),
                ('since', models.DateTimeField(help_text='Comments stored earlier are ignored.')),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('stones_per_day', models.PositiveSmallIntegerField(default=1, help_text='At most so many posts a day.', validators=[django.core.validators.MaxValueValidator(24)])),
                ('explore_share', models.FloatField(default=0.25, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('stone_community', models.CharField(blank=True, max_length=200)),
                ('next_stone_at', models.DateTimeField(blank=True, help_text='Not earlier than this.', null=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='presences', to='surfaces.account')),
                ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='presences', to='dialogue.agent')),
            ],
            options={
                'ordering': ['agent', 'account'],
            },
        ),
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('made_at', models.DateTimeField()),
                ('verdict', models.CharField(blank=True, max_length=40)),
                ('why', models.JSONField(blank=True, default=dict)),
                ('considered_at', models.DateTimeField(blank=True, null=True)),
                ('look_at', models.DateTimeField(blank=True, help_text='The next check. Empty: none.', null=True)),
                ('not_before', models.DateTimeField(blank=True, help_text='Wait between two attempts.', null=True)),
                ('asked_at', models.DateTimeField(blank=True, help_text='When an operator requested a reply.', null=True)),
                ('read_at', models.DateTimeField(blank=True, null=True)),
                ('outcome', models.CharField(blank=True, choices=[('answered', 'Answered'), ('passed', 'Passed')], max_length=10)),
                ('announced_at', models.DateTimeField(blank=True, help_text='Sent to the external agent.', null=True)),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to='dialogue.agent')),
                ('draft', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='surfaces.draft')),
                ('message', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to='surfaces.message')),
                ('presence', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to='dialogue.presence')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Activation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(choices=[('reply', 'Reply'), ('stone', 'Stone')], max_length=8)),
                ('why', models.JSONField(blank=True, default=dict)),
                ('state', models.CharField(choices=[('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('exhausted', 'Out of budget'), ('released', 'Interrupted'), ('abandoned', 'Worker lost')], default='running', max_length=10)),
                ('number', models.PositiveBigIntegerField()),
                ('worker', models.CharField(max_length=120)),
                ('lease_until', models.DateTimeField()),
                ('started_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('outcome', models.JSONField(blank=True, default=dict, help_text='The result, for operators.')),
                ('voice', models.CharField(blank=True, max_length=200)),
                ('tokens_in', models.PositiveIntegerField(default=0)),
                ('tokens_out', models.PositiveIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=6, default=Decimal('0'), max_digits=12)),
                ('cost_is_guess', models.BooleanField(default=False)),
                ('draft', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='activations', to='surfaces.draft')),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='activations', to='dialogue.agent')),
                ('notification', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='activations', to='dialogue.notification')),
                ('presence', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='activations', to='dialogue.presence')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Reservation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('tokens', models.PositiveIntegerField()),
                ('money', models.DecimalField(decimal_places=6, max_digits=12)),
                ('settled_at', models.DateTimeField(blank=True, null=True)),
                ('activation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='dialogue.activation')),
            ],
        ),
        migrations.CreateModel(
            name='SharedBudget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tokens_per_day', models.PositiveIntegerField(default=1000000, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(100000000)])),
                ('tokens_per_month', models.PositiveBigIntegerField(default=15000000, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(2000000000)])),
                ('money_per_day', models.DecimalField(decimal_places=4, default=Decimal('5'), max_digits=10, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(100000)])),
                ('money_per_month', models.DecimalField(decimal_places=4, default=Decimal('50'), max_digits=10, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(100000)])),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='house_budget_is_one_row'), models.CheckConstraint(condition=models.Q(('money_per_day__lte', models.F('money_per_month')), ('tokens_per_day__lte', models.F('tokens_per_month'))), name='house_budget_day_within_month', violation_error_message='The daily budget is larger than the monthly budget.')],
            },
        ),
        migrations.CreateModel(
            name='Spending',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.CharField(max_length=80)),
                ('period', models.CharField(choices=[('day', 'Day'), ('month', 'Month')], max_length=5)),
                ('starts', models.DateField()),
                ('tokens', models.PositiveBigIntegerField(default=0)),
                ('money', models.DecimalField(decimal_places=6, default=Decimal('0'), max_digits=14)),
                ('held_tokens', models.PositiveBigIntegerField(default=0)),
                ('held_money', models.DecimalField(decimal_places=6, default=Decimal('0'), max_digits=14)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'period', 'starts'), name='spending_once_per_period'), models.CheckConstraint(condition=models.Q(('held_money__gte', 0), ('money__gte', 0)), name='spending_is_never_negative')],
            },
        ),
        migrations.CreateModel(
            name='Stone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slot', models.CharField(max_length=32)),
                ('kind', models.CharField(choices=[('explore', 'Explore'), ('exploit', 'Exploit')], max_length=8)),
                ('why', models.JSONField(blank=True, default=dict)),
                ('table', models.JSONField(default=list)),
                ('draw', models.FloatField()),
                ('share', models.FloatField()),
                ('chosen_at', models.DateTimeField()),
                ('state', models.CharField(choices=[('chosen', 'Chosen'), ('written', 'Written'), ('given_up', 'Given up')], default='chosen', max_length=8)),
                ('look_at', models.DateTimeField()),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('outcome', models.JSONField(blank=True, default=dict)),
                ('draft', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='stone', to='surfaces.draft')),
                ('kernel', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='dialogue.kernel')),
                ('presence', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='stones', to='dialogue.presence')),
                ('thread', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='surfaces.message')),
            ],
            options={
                'ordering': ['-chosen_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='TranscriptStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(max_length=16)),
                ('words', models.TextField(blank=True)),
                ('why', models.JSONField(blank=True, default=dict)),
                ('facts', models.JSONField(default=dict)),
                ('tokens_in', models.PositiveIntegerField(default=0)),
                ('tokens_out', models.PositiveIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=6, default=Decimal('0'), max_digits=12)),
                ('cost_is_guess', models.BooleanField(default=False)),
                ('took_ms', models.PositiveIntegerField(default=0)),
                ('activation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='dialogue.activation')),
            ],
            options={
                'ordering': ['activation', 'number'],
            },
        ),
        migrations.CreateModel(
            name='WakeEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('made_at', models.DateTimeField()),
                ('body', models.JSONField()),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('delivered', 'Delivered'), ('failed', 'Failed')], default='waiting', max_length=10)),
                ('not_before', models.DateTimeField()),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('delivered_at', models.DateTimeField(blank=True, null=True)),
                ('why', models.JSONField(blank=True, default=dict)),
                ('account', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='surfaces.account')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='WakeAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('why', models.JSONField(blank=True, default=dict)),
                ('took_ms', models.PositiveIntegerField(default=0)),
                ('event', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='log', to='dialogue.wakeevent')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='WakeHook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('webhook', 'Webhook: Standard Webhooks signature'), ('openclaw', 'OpenClaw hook: bearer token')], default='webhook', max_length=10)),
                ('url', models.CharField(max_length=500)),
                ('sealed_secret', models.BinaryField(default=b'')),
                ('is_on', models.BooleanField(default=True)),
                ('agent', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='hook', to='dialogue.agent')),
            ],
        ),
        migrations.AddField(
            model_name='wakeevent',
            name='hook',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='dialogue.wakehook'),
        ),
        migrations.CreateModel(
            name='AgentSettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_autonomous', models.BooleanField(default=False, help_text='Off: it writes nothing unasked.', verbose_name='answers by itself')),
                ('mode', models.CharField(choices=[('auto', 'Auto: replies are sent without review'), ('review', 'Review: an operator approves each reply'), ('shadow', 'Shadow: replies are written but not sent'), ('off', 'Off: no reply is written')], default='review', max_length=8)),
                ('replies_per_day', models.PositiveSmallIntegerField(default=20, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(500)])),
                ('replies_per_thread', models.PositiveSmallIntegerField(default=3, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(50)])),
                ('spacing_seconds', models.PositiveIntegerField(default=60, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(86400)])),
                ('tries', models.PositiveSmallIntegerField(default=10, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10)], verbose_name='tries per comment')),
                ('longest_reply', models.PositiveIntegerField(default=1200, validators=[django.core.validators.MinValueValidator(80), django.core.validators.MaxValueValidator(10000)])),
                ('oldest_days', models.PositiveSmallIntegerField(default=0, help_text='Older ones are passed. 0: whatever their age.', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(3650)], verbose_name='oldest comment answered')),
                ('answers_runs_once', models.BooleanField(default=False, help_text='A run of comments by one author under one parent gets one answer.', verbose_name='one answer to a run')),
                ('lays_stones', models.BooleanField(default=False, help_text='It writes posts by itself.')),
                ('voice', models.CharField(choices=[('scripted', 'Scripted: a template, no model'), ('model', 'Model: a language model writes')], default='scripted', max_length=10)),
                ('temperature', models.FloatField(default=0.7, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(2)])),
                ('output_tokens', models.PositiveIntegerField(default=1000, validators=[django.core.validators.MinValueValidator(64), django.core.validators.MaxValueValidator(16000)])),
                ('timeout_seconds', models.PositiveSmallIntegerField(default=60, validators=[django.core.validators.MinValueValidator(5), django.core.validators.MaxValueValidator(120)])),
                ('tokens_per_day', models.PositiveIntegerField(default=200000, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(100000000)])),
                ('tokens_per_month', models.PositiveBigIntegerField(default=3000000, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(2000000000)])),
                ('money_per_day', models.DecimalField(decimal_places=4, default=Decimal('1'), max_digits=10, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(10000)])),
                ('money_per_month', models.DecimalField(decimal_places=4, default=Decimal('10'), max_digits=10, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(100000)])),
                ('price_in', models.DecimalField(decimal_places=4, default=Decimal('5'), max_digits=10, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1000)])),
                ('price_out', models.DecimalField(decimal_places=4, default=Decimal('20'), max_digits=10, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1000)])),
                ('topics', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), blank=True, default=list, size=100)),
                ('communities', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), blank=True, default=list, size=100)),
                ('keywords', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), blank=True, default=list, size=100)),
                ('follows', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), blank=True, default=list, size=100)),
                ('agent', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='settings', to='dialogue.agent')),
            ],
            options={
                'verbose_name_plural': 'agent settings',
                'constraints': [models.CheckConstraint(condition=models.Q(('mode__in', ['auto', 'review', 'shadow', 'off'])), name='agent_settings_mode_is_known'), models.CheckConstraint(condition=models.Q(('tries__range', (1, 10))), name='agent_settings_tries_1_to_10'), models.CheckConstraint(condition=models.Q(('voice__in', ['scripted', 'model'])), name='agent_settings_voice_is_known'), models.CheckConstraint(condition=models.Q(('money_per_day__lte', models.F('money_per_month')), ('tokens_per_day__lte', models.F('tokens_per_month'))), name='agent_settings_day_within_month', violation_error_message='The daily budget is larger than the monthly budget.')],
            },
        ),
        migrations.AddConstraint(
            model_name='kernel',
            constraint=models.UniqueConstraint(fields=('agent', 'words'), name='kernel_once_per_agent'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(fields=['agent', '-id'], name='memory_of_agent'),
        ),
        migrations.AddConstraint(
            model_name='modelendpoint',
            constraint=models.UniqueConstraint(fields=('agent', 'rank'), name='brain_one_per_rank'),
        ),
        migrations.AddConstraint(
            model_name='modelendpoint',
            constraint=models.CheckConstraint(condition=models.Q(('output_style__in', ['tool', 'native', 'prompted'])), name='brain_output_style_is_known'),
        ),
        migrations.AddConstraint(
            model_name='presence',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('account',), name='presence_one_live_per_account'),
        ),
        migrations.AddConstraint(
            model_name='presence',
            constraint=models.CheckConstraint(condition=models.Q(('mode', ''), ('mode__in', ['auto', 'review', 'shadow', 'off']), _connector='OR'), name='presence_mode_is_known'),
        ),
        migrations.AddConstraint(
            model_name='presence',
            constraint=models.CheckConstraint(condition=models.Q(('explore_share__range', (0, 1))), name='presence_share_is_a_share'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(condition=models.Q(('read_at', None)), fields=['look_at'], name='notification_due'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(condition=models.Q(('draft__isnull', False)), fields=['draft'], name='notification_draft'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(condition=models.Q(('read_at', None), ('draft', None), ('look_at', None)), fields=['presence', 'verdict'], name='notification_held'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(fields=['agent', '-id'], name='notification_inbox'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(condition=models.Q(('read_at', None), ('announced_at', None)), fields=['agent', 'id'], name='notification_untold'),
        ),
        migrations.AddConstraint(
            model_name='notification',
            constraint=models.UniqueConstraint(fields=('agent', 'message'), name='notification_once_per_agent_and_message'),
        ),
        migrations.AddConstraint(
            model_name='notification',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('outcome', ''), ('read_at', None)), models.Q(('outcome', 'answered'), ('read_at__isnull', False)), models.Q(('outcome', 'passed'), ('read_at__isnull', False), models.Q(('why', {}), _negated=True)), _connector='OR'), name='notification_read_says_why'),
        ),
        migrations.AddIndex(
            model_name='activation',
            index=models.Index(condition=models.Q(('state', 'running')), fields=['lease_until'], name='activation_lease'),
        ),
        migrations.AddIndex(
            model_name='activation',
            index=models.Index(fields=['agent', '-id'], name='activation_of_agent'),
        ),
        migrations.AddConstraint(
            model_name='activation',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'running')), fields=('agent',), name='activation_one_live_per_agent'),
        ),
        migrations.AddConstraint(
            model_name='activation',
            constraint=models.UniqueConstraint(fields=('agent', 'number'), name='activation_number_grows_once'),
        ),
        migrations.AddConstraint(
            model_name='activation',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['running', 'done', 'failed', 'exhausted', 'released', 'abandoned'])), name='activation_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='activation',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('ended_at__isnull', False), models.Q(('outcome', {}), _negated=True)), _connector='OR'), name='activation_ended_says_what_came'),
        ),
        migrations.AddIndex(
            model_name='reservation',
            index=models.Index(condition=models.Q(('settled_at', None)), fields=['activation'], name='reservation_held'),
        ),
        migrations.AddIndex(
            model_name='stone',
            index=models.Index(fields=['-chosen_at', '-id'], name='stone_newest'),
        ),
        migrations.AddIndex(
            model_name='stone',
            index=models.Index(condition=models.Q(('state', 'chosen')), fields=['look_at'], name='stone_due'),
        ),
        migrations.AddConstraint(
            model_name='stone',
            constraint=models.UniqueConstraint(fields=('presence', 'slot'), name='stone_once_per_slot'),
        ),
        migrations.AddConstraint(
            model_name='stone',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['explore', 'exploit'])), name='stone_kind_is_known'),
        ),
        migrations.AddConstraint(
            model_name='stone',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['chosen', 'written', 'given_up'])), name='stone_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='transcriptstep',
            constraint=models.UniqueConstraint(fields=('activation', 'number'), name='step_numbered_once'),
        ),
        migrations.AddConstraint(
            model_name='wakehook',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['webhook', 'openclaw'])), name='wake_hook_kind_is_known'),
        ),
        migrations.AddIndex(
            model_name='wakeevent',
            index=models.Index(condition=models.Q(('state', 'waiting')), fields=['not_before'], name='wake_event_due'),
        ),
        migrations.AddIndex(
            model_name='wakeevent',
            index=models.Index(fields=['hook', '-id'], name='wake_event_log'),
        ),
        migrations.AddConstraint(
            model_name='wakeevent',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'delivered', 'failed'])), name='wake_event_state_is_known'),
        ),
    ]
