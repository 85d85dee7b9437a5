"""Django admin: a read-only view of our own rows. Credentials are never shown, nor searched.

Pages that libraries register are removed: they change rows without our rules and without the
audit log, and a schedule of the task queue names a function to be called.
"""

from functools import partial
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from surfaces.accounts.models.account import Account
from surfaces.accounts.models.rate_limit import RateLimitWindow
from surfaces.accounts.models.surface import Surface
from surfaces.accounts.settings import LIMIT
from surfaces.audit.models import AuditEvent
from surfaces.drafts.models import Draft
from surfaces.hub.models import (
    HubAuthor,
    HubClock,
    HubComment,
    HubCommunity,
    HubMention,
    HubPost,
    HubRead,
)
from surfaces.messages.models import Message
from surfaces.operators.models.api_key import ApiKey
from surfaces.operators.models.operator import Operator
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.pauses.models import Pause
from surfaces.settings import services as settings_services
from surfaces.spam.models import SpamDecision, SpamToken
from surfaces.watcher.models import ReadingPlace, WatchRound

admin.site.site_header = admin.site.site_title = "Colloquy administration"
admin.site.index_title = "Everything there is to look at"
for registered in [*admin.site._registry]:  # all before ours are those of libraries
    admin.site.unregister(registered)


def _manages(request: HttpRequest) -> bool:
    return bool(request.user.is_active and getattr(request.user, "may_manage", False))


admin.site.has_permission = _manages  # type: ignore[method-assign]


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Read-only rows."""

    show_full_result_count = False  # no count over a million rows
    list_per_page = 50
    hidden: tuple[str, ...] = ()

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return _manages(request)

    def _never(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    has_module_permission = has_view_permission
    has_add_permission = has_change_permission = has_delete_permission = _never

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        names = [field.name for field in self.model._meta.concrete_fields]
        return [name for name in names if name not in self.hidden]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.get_fields(request, obj)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Filter by what the list offers only: a filter would tell what a hidden field holds."""
        offered = lookup.split("__")[0] in self.list_filter
        return offered and super().lookup_allowed(lookup, value, request)


class SurfaceAdmin(ReadOnlyAdmin):
    """Rate limits may be set here: at an address of one's own, no page offers one to begin with."""

    settable = ("limits",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [name for name in self.get_fields(request, obj) if name not in self.settable]

    has_change_permission = ReadOnlyAdmin.has_view_permission

    def save_model(self, request: HttpRequest, obj: Surface, form: Any, change: bool) -> None:
        kept = Surface.objects.get(pk=obj.pk).limits
        limits = {f"{LIMIT}{bucket}": obj.limits.get(bucket) for bucket in {*kept, *obj.limits}}
        by = getattr(request.user, "actor", "")
        settings_services.change(obj, limits, by=by, now=timezone.now())


admin.site.register(
    Surface, SurfaceAdmin, list_display=["slug", "name", "kind", "base_url", "is_on"]
)
show = partial(admin.site.register, admin_class=ReadOnlyAdmin)
# Operators are changed under Settings, which protects the last administrator.
show(
    Operator,
    list_display=["username", "name", "role", "is_active", "last_login"],
    list_filter=["role", "is_active"],
    hidden=("password", "sealed_totp", "totp_step", "sign_outs"),
)
show(
    ApiKey,
    list_display=["name", "prefix", "owner", "scope", "made_at", "expires_at", "revoked_at"],
    list_select_related=["operator"],
    hidden=("digest",),
)
show(
    Account,
    list_display=["name", "surface", "handle", "mode", "is_on", "state", "state_since"],
    list_filter=["state", "mode", "is_on"],
    list_select_related=["surface"],
    hidden=("sealed_credential",),
)
show(
    Message,
    list_display=["id", "account", "kind", "author", "direction", "created_at", "spam_status"],
    list_filter=["direction", "kind", "spam_status", "reply_status"],
    list_select_related=["account"],
    hidden=("search",),
)
show(
    Draft,
    list_display=["id", "account", "what", "state", "made_by", "made_at", "decided_by"],
    list_filter=["state", "what"],
    list_select_related=["account"],
)
show(AuditEvent, list_display=["id", "at", "actor", "action", "subject", "why"])
show(
    WatchRound,
    list_display=["id", "account", "started_at", "outcome", "requests", "stored", "skipped"],
    list_select_related=["account"],
)
show(
    ReadingPlace,
    list_display=["account", "started_at", "posts", "ended_at"],
    list_select_related=["account"],
)
show(RateLimitWindow, list_display=["holder", "bucket", "used", "window_ends_at", "blocked_until"])
show(Pause, list_display=["scope", "subject", "why", "by", "since", "ended_at", "ended_by"])
show(
    SpamDecision,
    list_display=["id", "message", "is_spam", "filter_status", "by", "at"],
    list_select_related=["message"],
)
show(SpamToken, list_display=["token", "in_spam", "in_clean"])
show(SignInAttempt, list_display=["at", "username", "network"])
# The built-in community's own rows; of authors not what they sign in with.
show([HubCommunity, HubPost, HubComment, HubMention, HubRead, HubClock], hidden=("search",))
show(HubAuthor, list_display=["name", "display_name", "is_bot", "made_at"], hidden=("key_digest",))
