"""Data of the page of one draft."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from surfaces.drafts.models import UNDECIDED, Draft, DraftKind
from surfaces.errors import BadInput
from surfaces.messages.models import Message
from surfaces.operators.models.operator import Operator
from surfaces.pauses import services as pause_services
from surfaces.text.spans import span

SLACK = timedelta(minutes=10)  # between our clock and the service's
EDITED_MEANWHILE = _lazy("The text changed after you opened this page. Your text is kept below.")
CANDIDATES = 20  # messages offered to settle a draft as sent


def candidates(draft: Draft) -> list[Message]:
    """Our messages in the thread without a draft: one of them may be this draft."""
    ours = Message.objects.filter(account=draft.account, draft=None).outgoing()
    ours = ours.filter(post=draft.target.post_id) if draft.target else ours.posts()
    if draft.asked_at:
        ours = ours.written_since(draft.asked_at - SLACK)
    return list(ours.order_by("-created_at", "-id").defer("raw_json", "search")[:CANDIDATES])


def decided_before(draft: Draft, me: str, now: datetime) -> str:
    """The decision of another operator, and when; "" if there is none."""
    if draft.state in UNDECIDED or not draft.decided_by or not draft.decided_at:
        return ""
    return decided_words(draft.decided_by, now - draft.decided_at, draft.get_state_display(), me)


def decided_words(by: str, ago: timedelta, state: str, me: str) -> str:
    """Who decided on something, how long ago, and what it is since."""
    if by == me:
        return _("You decided this %(ago)s ago: it is %(state)s.") % {
            "ago": span(ago),
            "state": state,
        }
    kind, _colon, name = by.partition(":")
    if kind == "operator":
        operator = Operator.objects.filter(username=name).first()
        name = operator.name if operator else name
    values = {"value": name or kind, "ago": span(ago), "state": state}
    return _("%(value)s decided this %(ago)s before you: it is %(state)s.") % values


def when_sent(draft: Draft, wait: timedelta) -> str:
    """When an approved draft is sent: after a pause, after `wait`, or now."""
    held = pause_services.reasons(draft.account, draft.agent)
    if held:
        named = {"what": held[0].subject_name, "by": held[0].by.partition(":")[2] or held[0].by}
        words = _("Sending is paused (%(what)s, by %(by)s); it is sent after the pause ends.")
        return words % named
    if wait < timedelta(seconds=1):
        return _("It is sent now.")
    return _("It is sent in %(span)s.") % {"span": span(wait)}


def text_limit(draft: Draft) -> int:
    traits = draft.account.surface.traits
    return (draft.what == DraftKind.POST and traits.post_limit) or traits.text_limit


def checked(draft: Draft, typed: Mapping[str, str]) -> dict[str, str]:
    if draft.what != DraftKind.POST:
        return {"text": typed["text"]}
    if len(typed["community"]) > 200:
        raise BadInput(_lazy("The community has more than 200 characters. Enter its short name."))
    if (length := len(typed["title"])) > 300:
        raise BadInput(
            _lazy("The title has %(typed)s characters. Enter at most 300."), typed=length
        )
    return {name: typed[name] for name in ("text", "title", "community")}
