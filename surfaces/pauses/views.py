"""Pause and resume, from any page."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.http import require_POST

from surfaces.errors import BadInput, NotAllowed
from surfaces.extension_points import agent_scope
from surfaces.operators.permissions import moderator_required
from surfaces.pauses import scope as pause_scope
from surfaces.pauses import services as pause_services
from surfaces.pauses.models import Pause, PauseScope
from surfaces.text.reasons import FORMATS, note, reason
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import redirect_back, rule_errors_as_toasts

LONGEST = 120  # characters of what is paused, as its row has them
MAX_REASON = 400  # characters
ALREADY = _lazy(
    "Sending is already paused for %(what)s since %(at)s by %(by)s. Nothing was changed."
)


@require_POST
@moderator_required
def pause(request: OperatorRequest) -> HttpResponse:
    scope, subject = _within(request)
    with rule_errors_as_toasts(request):
        _check_agent(scope, subject)
        why, now = note(_typed_reason(request)) or reason("pause.no_reason"), timezone.now()
        row = pause_services.pause(scope, subject, why=why, by=request.user.actor, now=now)
        if row.since != now:
            by = row.by.partition(":")[2] or row.by
            raise NotAllowed(ALREADY, what=row.subject_name, at=row.since, by=by)
        words = _("Sending is paused for %(what)s. Approved drafts stay approved.")
        undo = {"undo": reverse("surfaces:resume"), "scope": row.scope, "subject": row.subject}
        toasts.show_toast(request, words % {"what": row.subject_name}, **undo)
    return redirect_back(request, "surfaces:home")


@require_POST
@moderator_required
def resume(request: OperatorRequest) -> HttpResponse:
    scope, subject = _within(request)
    with rule_errors_as_toasts(request):
        pause_services.resume(scope, subject, by=request.user.actor, now=timezone.now())
        toasts.show_toast(request, _resumed(request, Pause(scope=scope, subject=subject)))
    return redirect_back(request, "surfaces:home")


def _resumed(request: OperatorRequest, ended: Pause) -> str:
    """What was resumed, and what this operator sees still paused."""
    user, live = request.user, pause_services.live()
    others = pause_scope.pauses_within(user.reach, live, lambda: user.accounts_seen or ())
    what = {"what": ended.subject_name}
    if not others:
        return _("Sending is resumed for %(what)s. Approved drafts will be sent.") % what
    still = FORMATS["list"]([str(pause.subject_name) for pause in others])
    words = _("The pause of %(what)s has ended. Still paused: %(still)s.")
    return words % {**what, "still": still}


def _typed_reason(request: OperatorRequest) -> str:
    typed = " ".join(request.POST.get("why", "").split())
    if len(typed) > MAX_REASON:
        words = _lazy("The reason has %(typed)s characters. Enter at most %(most)s.")
        raise BadInput(words, typed=len(typed), most=MAX_REASON)
    return typed


def _check_agent(scope: str, subject: str) -> None:
    """Delivery knows an agent only as a name, so a mistyped one would look like a pause."""
    if scope == PauseScope.AGENT and subject not in dict(agent_scope().choices()):
        message = _lazy("There is no agent %(subject)s. See the Agents page for the names.")
        raise BadInput(message, subject=subject)


def _within(request: OperatorRequest) -> tuple[str, str]:
    """What is meant, if that is within reach: a name outside is nobody's."""
    reach, given = request.user.reach, request.POST
    scope, subject = given.get("scope", ""), given.get("subject", "")
    if what := given.get("what", ""):  # both in one: "surface:moltbook"
        scope, _colon, subject = what.partition(":")
    scope, subject = scope[:LONGEST], subject[:LONGEST]
    if not pause_scope.may_see(reach, scope, subject):
        raise Http404
    if why := pause_scope.refusal(reach, scope, subject):
        raise PermissionDenied(why)
    return scope, subject
