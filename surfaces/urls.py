"""Every page and every act. An act is a POST; its name is its view's name."""

from __future__ import annotations

from django.urls import path

from surfaces.accounts.views import accounts
from surfaces.accounts.views.settings import surface_settings, undo_surface
from surfaces.audit.views import log
from surfaces.desk.views import item
from surfaces.desk.views import queue as views_queue
from surfaces.drafts import views as draft_views
from surfaces.home.views import dashboard, style_guide
from surfaces.live import views as live_views
from surfaces.messages import views as message_views
from surfaces.notices import views as notice_views
from surfaces.operators.views import api_keys, operators, profile, sign_in, two_factor
from surfaces.pauses import views as pause_views
from surfaces.settings import urls as settings_urls
from surfaces.spam import views as spam_views
from surfaces.threads import views as thread_views
from surfaces.web.views import health

app_name = "surfaces"

urlpatterns = [
    path("", dashboard.home, name="home"),
    path("more", dashboard.more, name="more"),
    path("first-run", dashboard.first_run, name="first_run"),
    path("healthz", health.healthz, name="healthz"),
    path("sign-in", sign_in.sign_in, name="sign_in"),
    path("sign-out", sign_in.sign_out, name="sign_out"),
    path("password", profile.password, name="password"),
    path("me", profile.profile, name="profile"),
    path("sign-in/code", sign_in.sign_in_code, name="sign_in_code"),
    path("me/two-factor", two_factor.two_factor, name="two_factor"),
    path("me/two-factor/codes", two_factor.renew_codes, name="renew_codes"),
    path("me/two-factor/off", two_factor.switch_off, name="two_factor_off"),
    path("api/me", api_keys.me, name="api_me"),
    #
    path("messages/", message_views.messages, name="messages"),
    path("messages/<int:pk>/", message_views.message, name="message"),
    path("messages/<int:pk>/spam", message_views.mark_spam, name="mark_spam"),
    path("messages/<int:pk>/clean", message_views.mark_clean, name="mark_clean"),
    path("messages/<int:pk>/unmark", message_views.unmark, name="unmark"),
    path("messages/<int:pk>/answer", message_views.answer, name="answer"),
    path("messages/<int:pk>/try_again", message_views.try_again, name="try_again"),
    path("threads/", thread_views.threads, name="threads"),
    path("threads/<int:pk>/", thread_views.thread, name="thread"),
    #
    path("desk/", views_queue.desk, name="desk"),
    path("desk/rows", views_queue.rows, name="desk_rows"),
    path("desk/views/", views_queue.views, name="desk_views"),
    path("desk/bulk", item.bulk, name="desk_bulk"),
    path("desk/undo", item.undo, name="desk_undo"),
    path("desk/views/save", views_queue.save_view, name="save_view"),
    path("desk/views/<int:pk>/remove", views_queue.remove_view, name="remove_view"),
    path("desk/<slug:kind>/<int:pk>/", item.item, name="desk_item"),
    path("desk/<slug:kind>/<int:pk>/reading", item.reading, name="desk_reading"),
    path("desk/<slug:kind>/<int:pk>/story", item.story, name="desk_story"),
    path("desk/<slug:kind>/<int:pk>/later", item.later, name="desk_later"),
    path("desk/<slug:kind>/<int:pk>/<slug:act>", item.act, name="desk_act"),
    #
    path("posts/new", draft_views.new_post, name="new_post"),
    path("drafts/", draft_views.drafts, name="drafts"),
    path("drafts/<int:pk>/", draft_views.draft, name="draft"),
    path("drafts/<int:pk>/approve", draft_views.approve, name="approve"),
    path("drafts/<int:pk>/edit", draft_views.edit, name="edit"),
    path("drafts/<int:pk>/withdraw", draft_views.withdraw, name="withdraw"),
    path("drafts/<int:pk>/send_back", draft_views.send_back, name="send_back"),
    path("drafts/<int:pk>/retry", draft_views.retry, name="retry"),
    path("drafts/<int:pk>/settle_there", draft_views.settle_there, name="settle_there"),
    path("drafts/<int:pk>/settle_absent", draft_views.settle_absent, name="settle_absent"),
    path("drafts/<int:pk>/retract", draft_views.retract, name="retract"),
    #
    path("surfaces/", accounts.surfaces, name="surfaces"),
    path("surfaces/<slug:slug>/", accounts.surface, name="surface"),
    path("surfaces/<slug:slug>/switch", accounts.switch_surface, name="switch_surface"),
    path("accounts/<int:pk>/", accounts.account, name="account"),
    path("surfaces/<slug:slug>/settings", surface_settings, name="surface_settings"),
    path("surfaces/<slug:slug>/settings/undo", undo_surface, name="undo_surface"),
    path("accounts/<int:pk>/undo", accounts.undo_account, name="undo_account"),
    path("accounts/<int:pk>/change", accounts.change_account, name="change_account"),
    path("accounts/<int:pk>/watch", accounts.watch_now, name="watch_now"),
    path("accounts/<int:pk>/clear", accounts.resume_account, name="resume_account"),
    #
    path("pause", pause_views.pause, name="pause"),
    path("resume", pause_views.resume, name="resume"),
    path("spam-filter/", spam_views.spam_filter, name="spam_filter"),
    path("spam-filter/thresholds", spam_views.set_thresholds, name="set_thresholds"),
    path("spam-filter/thresholds/undo", spam_views.undo_thresholds, name="undo_thresholds"),
    path("spam-filter/words/", spam_views.words, name="spam_words"),
    path("spam-filter/words/forget", spam_views.forget_word, name="forget_word"),
    path("spam-filter/words/remember", spam_views.remember_word, name="remember_word"),
    path("ledger/", log.audit_log, name="ledger"),
    #
    path("settings/operators/", operators.operators, name="operators"),
    path("settings/operators/new", operators.new_operator, name="new_operator"),
    path("settings/operators/<int:pk>/", operators.operator, name="operator"),
    path("settings/operators/<int:pk>/undo", operators.undo, name="undo_operator"),
    path("settings/operators/<int:pk>/deactivate", operators.deactivate, name="deactivate"),
    path("settings/operators/<int:pk>/reactivate", operators.reactivate, name="reactivate"),
    path("settings/operators/<int:pk>/sign-out", operators.sign_out, name="sign_out_operator"),
    path("settings/operators/<int:pk>/password", operators.reset_password, name="reset_password"),
    path("settings/operators/<int:pk>/two-factor", operators.two_factor_off, name="end_two_factor"),
    path("settings/keys/", api_keys.keys, name="keys"),
    path("settings/keys/new", api_keys.new_key, name="new_key"),
    path("settings/keys/<int:pk>/revoke", api_keys.revoke, name="revoke_key"),
    #
    path("notices/", notice_views.notices, name="notices"),
    path("notices/read", notice_views.read_notices, name="read_notices"),
    path("settings/notices/", notice_views.notice_rules, name="notice_rules"),
    path("settings/notices/add", notice_views.add_notice_rule, name="add_notice_rule"),
    path("settings/notices/<int:pk>/", notice_views.notice_rule, name="notice_rule"),
    path(
        "settings/notices/<int:pk>/switch",
        notice_views.switch_notice_rule,
        name="switch_notice_rule",
    ),
    path(
        "settings/notices/<int:pk>/remove",
        notice_views.remove_notice_rule,
        name="remove_notice_rule",
    ),
    path("settings/notices/<int:pk>/test", notice_views.test_notice_rule, name="test_notice_rule"),
    path(
        "settings/notices/<int:pk>/secret",
        notice_views.renew_notice_secret,
        name="renew_notice_secret",
    ),
    #
    path("live", live_views.live, name="live"),
    path("live/now", live_views.now, name="live_now"),
    path("live/news", live_views.news, name="live_news"),
    path("live/sending", live_views.sending, name="live_sending"),
    #
    *settings_urls.urlpatterns,
    path("settings/components/", style_guide.components, name="components"),
]
