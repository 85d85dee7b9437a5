"""Django admin: a read-mostly view of all rows.

Rows that services guard (drafts, messages, the audit log …) are read-only here. Credentials
are never shown.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from surfaces.accounts.models.account import Account
from surfaces.accounts.models.rate_limit import RateLimitWindow
from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditEvent
from surfaces.drafts.models import Draft
from surfaces.hub.models import HubAuthor, HubClock, HubComment, HubCommunity, HubPost, HubRead
from surfaces.messages.models import Message
from surfaces.operators.models.api_key import ApiKey
from surfaces.operators.models.operator import Operator
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.pauses.models import Pause
from surfaces.spam.models import SpamDecision, SpamToken
from surfaces.watcher.models import WatchRound

admin.site.site_header = admin.site.site_title = "Colloquy administration"
admin.site.index_title = "Everything there is to look at"
admin.site.unregister(Group)  # roles say who may do what


def _manages(request: HttpRequest) -> bool:
    return bool(request.user.is_active and getattr(request.user, "may_manage", False))


admin.site.has_permission = _manages  # type: ignore[method-assign]


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Read-only rows."""

    show_full_result_count = False  # no count over a million rows
    list_per_page = 50
    hidden: tuple[str, ...] = ()

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _manages(request)

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return _manages(request)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        names = [field.name for field in self.model._meta.concrete_fields]
        return [name for name in names if name not in self.hidden]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.get_fields(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Operator)
class OperatorAdmin(ReadOnlyAdmin):
    """Read-only: operators are changed under Settings, which protects the last administrator."""

    list_display = ["username", "name", "role", "is_active", "last_login"]
    list_filter = ["role", "is_active"]
    hidden = ("password", "sealed_totp", "totp_step", "sign_outs")


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    list_display = ["name", "prefix", "owner", "scope", "made_at", "expires_at", "revoked_at"]
    list_select_related = ["operator"]
    hidden = ("digest",)


@admin.register(Surface)
class SurfaceAdmin(ReadOnlyAdmin):
    """Its name, our own budgets and its way of writing may be set here; the rest by verbs."""

    list_display = ["slug", "name", "kind", "base_url", "is_on"]
    settable = ("name", "limits", "dialect")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [name for name in self.get_fields(request, obj) if name not in self.settable]

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return _manages(request)

    def save_model(self, request: HttpRequest, obj: Surface, form: Any, change: bool) -> None:
        obj.save(update_fields=self.settable)
        by = getattr(request.user, "actor", "")
        facts = {name: getattr(obj, name) for name in form.changed_data}
        AuditEvent.objects.record("surface.changed", actor=by, subject=obj, now=facts)


@admin.register(Account)
class AccountAdmin(ReadOnlyAdmin):
    list_display = ["name", "surface", "handle", "mode", "is_on", "state", "state_since"]
    list_filter = ["state", "mode", "is_on"]
    list_select_related = ["surface"]
    hidden = ("sealed_credential",)


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ["id", "account", "kind", "author", "direction", "created_at", "spam_status"]
    list_filter = ["direction", "kind", "spam_status", "reply_status"]
    list_select_related = ["account"]
    hidden = ("search",)


@admin.register(Draft)
class DraftAdmin(ReadOnlyAdmin):
    list_display = ["id", "account", "what", "state", "made_by", "made_at", "decided_by"]
    list_filter = ["state", "what"]
    list_select_related = ["account"]


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ["id", "at", "actor", "action", "subject", "why"]


@admin.register(WatchRound)
class WatchRoundAdmin(ReadOnlyAdmin):
    list_display = ["id", "account", "started_at", "outcome", "requests", "stored", "skipped"]
    list_select_related = ["account"]


@admin.register(RateLimitWindow)
class RateLimitWindowAdmin(ReadOnlyAdmin):
    list_display = ["holder", "bucket", "used", "window_ends_at", "blocked_until"]


@admin.register(Pause)
class PauseAdmin(ReadOnlyAdmin):
    list_display = ["scope", "subject", "why", "by", "since", "ended_at", "ended_by"]


@admin.register(SpamDecision)
class SpamDecisionAdmin(ReadOnlyAdmin):
    list_display = ["id", "message", "is_spam", "filter_status", "by", "at"]
    list_select_related = ["message"]


@admin.register(SpamToken)
class SpamTokenAdmin(ReadOnlyAdmin):
    list_display = ["token", "in_spam", "in_clean"]


@admin.register(SignInAttempt)
class SignInAttemptAdmin(ReadOnlyAdmin):
    list_display = ["at", "username", "network"]


@admin.register(HubCommunity, HubPost, HubComment, HubRead, HubClock)
class HubAdmin(ReadOnlyAdmin):
    """The built-in community's own rows."""

    hidden = ("search",)


@admin.register(HubAuthor)
class HubAuthorAdmin(ReadOnlyAdmin):
    """Authors of the built-in community, without what they sign in with."""

    list_display = ["name", "display_name", "is_bot", "made_at"]
    hidden = ("key_digest",)
