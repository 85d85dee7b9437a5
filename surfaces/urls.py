"""Every page and every act. An act is a POST; its name is its view's name."""

from __future__ import annotations

from django.urls import path

from surfaces.views import (
    accounts,
    doors,
    drafts,
    home,
    ledger,
    messages,
    pauses,
    spam,
    threads,
)

app_name = "surfaces"

urlpatterns = [
    path("", home.home, name="home"),
    path("more", home.more, name="more"),
    path("healthz", doors.healthz, name="healthz"),
    path("sign-in", doors.sign_in, name="sign_in"),
    path("sign-out", doors.sign_out, name="sign_out"),
    path("password", doors.password, name="password"),
    path("me", doors.profile, name="profile"),
    #
    path("messages/", messages.messages, name="messages"),
    path("messages/<int:pk>/", messages.message, name="message"),
    path("messages/<int:pk>/spam", messages.mark_spam, name="mark_spam"),
    path("messages/<int:pk>/clean", messages.mark_clean, name="mark_clean"),
    path("messages/<int:pk>/unmark", messages.unmark, name="unmark"),
    path("messages/<int:pk>/answer", messages.answer, name="answer"),
    path("messages/<int:pk>/try_again", messages.try_again, name="try_again"),
    path("threads/", threads.threads, name="threads"),
    path("threads/<int:pk>/", threads.thread, name="thread"),
    #
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
    #
    path("surfaces/", accounts.surfaces, name="surfaces"),
    path("surfaces/<slug:slug>/", accounts.surface, name="surface"),
    path("surfaces/<slug:slug>/switch", accounts.switch_surface, name="switch_surface"),
    path("accounts/<int:pk>/", accounts.account, name="account"),
    path("accounts/<int:pk>/change", accounts.change_account, name="change_account"),
    path("accounts/<int:pk>/watch", accounts.watch_now, name="watch_now"),
    path("accounts/<int:pk>/clear", accounts.resume_account, name="resume_account"),
    #
    path("pause", pauses.pause, name="pause"),
    path("resume", pauses.resume, name="resume"),
    path("spam-filter/", spam.spam_filter, name="spam_filter"),
    path("ledger/", ledger.ledger, name="ledger"),
]
