"""Every page and every act. An act is a POST; its name is its view's name."""

from django.urls import path

from surfaces.accounts.views import accounts
from surfaces.accounts.views.settings import surface_settings, undo_surface
from surfaces.audit.views import log
from surfaces.desk.views import item
from surfaces.desk.views import queue as views_queue
from surfaces.drafts import views as drafts
from surfaces.home.views import dashboard, style_guide
from surfaces.live import views as live
from surfaces.messages import views as messages
from surfaces.notices import views as notices
from surfaces.operators.views import (
    api_keys,
    operators,
    profile,
    sessions,
    sign_in,
    two_factor,
)
from surfaces.pauses import views as pauses
from surfaces.settings import urls as settings_urls
from surfaces.spam import views as spam
from surfaces.threads import views as threads
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
    path("me/two-factor/app", two_factor.two_factor_app, name="two_factor_app"),
    path("me/passkeys/new", two_factor.add_passkey, name="add_passkey"),
    path("me/passkeys/<int:pk>/remove", two_factor.remove_passkey, name="remove_passkey"),
    path("me/sessions", sessions.sessions, name="sessions"),
    path("me/sessions/end", sessions.end_session, name="end_session"),
    path("me/sessions/end-others", sessions.end_other_sessions, name="end_other_sessions"),
    path("me/two-factor/codes", two_factor.renew_codes, name="renew_codes"),
    path("me/two-factor/off", two_factor.switch_off, name="two_factor_off"),
    path("api/me", api_keys.me, name="api_me"),
    path("messages/", messages.messages, name="messages"),
    path("messages/<int:pk>/", messages.message, name="message"),
    path("messages/<int:pk>/spam", messages.mark_spam, name="mark_spam"),
    path("messages/<int:pk>/clean", messages.mark_clean, name="mark_clean"),
    path("messages/<int:pk>/unmark", messages.unmark, name="unmark"),
    path("messages/<int:pk>/answer", messages.answer, name="answer"),
    path("messages/<int:pk>/try_again", messages.try_again, name="try_again"),
    path("threads/", threads.threads, name="threads"),
    path("threads/<int:pk>/", threads.thread, name="thread"),
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
    path("posts/new", drafts.new_post, name="new_post"),
    path("drafts/", drafts.drafts, name="drafts"),
    path("drafts/<int:pk>/", drafts.draft, name="draft"),
    path("drafts/<int:pk>/approve", drafts.approve, name="approve"),
    path("drafts/<int:pk>/edit", drafts.edit, name="edit"),
    path("drafts/<int:pk>/withdraw", drafts.withdraw, name="withdraw"),
    path("drafts/<int:pk>/send_back", drafts.send_back, name="send_back"),
    path("drafts/<int:pk>/retry", drafts.retry, name="retry"),
    path("drafts/<int:pk>/settle_there", drafts.settle_there, name="settle_there"),
    path("drafts/<int:pk>/settle_absent", drafts.settle_absent, name="settle_absent"),
    path("drafts/<int:pk>/retract", drafts.retract, name="retract"),
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
    path("pause", pauses.pause, name="pause"),
    path("resume", pauses.resume, name="resume"),
    path("spam-filter/", spam.spam_filter, name="spam_filter"),
    path("spam-filter/thresholds", spam.set_thresholds, name="set_thresholds"),
    path("spam-filter/thresholds/undo", spam.undo_thresholds, name="undo_thresholds"),
    path("spam-filter/words/", spam.words, name="spam_words"),
    path("spam-filter/words/forget", spam.forget_word, name="forget_word"),
    path("spam-filter/words/remember", spam.remember_word, name="remember_word"),
    path("ledger/", log.audit_log, name="ledger"),
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
    path("notices/", notices.notices, name="notices"),
    path("notices/read", notices.read_notices, name="read_notices"),
    path("settings/notices/", notices.notice_rules, name="notice_rules"),
    path("settings/notices/add", notices.add_notice_rule, name="add_notice_rule"),
    path("settings/notices/<int:pk>/", notices.notice_rule, name="notice_rule"),
    path("settings/notices/<int:pk>/switch", notices.switch_notice_rule, name="switch_notice_rule"),
    path("settings/notices/<int:pk>/remove", notices.remove_notice_rule, name="remove_notice_rule"),
    path("settings/notices/<int:pk>/test", notices.test_notice_rule, name="test_notice_rule"),
    path(
        "settings/notices/<int:pk>/secret", notices.renew_notice_secret, name="renew_notice_secret"
    ),
    path("live", live.live, name="live"),
    path("live/now", live.now, name="live_now"),
    path("live/news", live.news, name="live_news"),
    path("live/sending", live.sending, name="live_sending"),
    *settings_urls.urlpatterns,
    path("settings/components/", style_guide.components, name="components"),
]
