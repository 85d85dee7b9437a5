import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0007_workers")]

    operations = [
        migrations.CreateModel(
            name='NoticeMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('through', models.BigIntegerField(default=0)),
                ('candidate', models.BigIntegerField(default=0)),
                ('horizon', models.BigIntegerField(default=0)),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('id', 1)), name='notice_mark_is_one_row')
                ],
            },
        ),
        migrations.CreateModel(
            name='NoticeRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(choices=[('page', 'On the page'), ('mail', 'By mail'), ('webhook', 'By webhook')], default='page', max_length=8)),
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
                ('pace', models.CharField(choices=[('once', 'At once'), ('hours', 'Every few hours'), ('daily', 'Once a day')], default='once', max_length=6)),
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
                ('surfaces', models.ManyToManyField(blank=True, related_name='+', to='surfaces.surface')),
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
                ('why', models.CharField(blank=True, max_length=400)),
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
                ('reason', models.CharField(choices=[('waits', 'Waits'), ('expires', 'Expires'), ('down', 'Down'), ('back', 'Back'), ('paused', 'Paused'), ('house', 'House')], max_length=8)),
                ('desk_item', models.BigIntegerField(null=True)),
                ('kind', models.CharField(blank=True, max_length=20)),
                ('item_id', models.BigIntegerField(null=True)),
                ('agent', models.CharField(blank=True, max_length=64)),
                ('author', models.CharField(blank=True, max_length=80)),
                ('words', models.CharField(blank=True, max_length=200)),
                ('moment', models.DateTimeField()),
                ('is_urgent', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('due', 'due'), ('told', 'told'), ('handled', 'handled'), ('dropped', 'not told')], default='due', max_length=8)),
                ('why', models.CharField(blank=True, max_length=400)),
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
            model_name='noticedelivery',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'told', 'failed', 'dropped'])), name='notice_delivery_state_is_known'),
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
    ]
