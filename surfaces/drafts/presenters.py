"""Data of the page of one draft."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from surfaces.drafts.models import UNDECIDED, Draft, DraftKind
from surfaces.errors import BadInput
from surfaces.messages.models import Message
from surfaces.operators.models.operator import Operator
from surfaces.text.spans import span

SLACK = timedelta(minutes=10)  # between our clock and the service's


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
    if draft.decided_by == me:
        return _("You decided this already: it is %(state)s.") % {
            "state": draft.get_state_display()
        }
    kind, _colon, name = draft.decided_by.partition(":")
    if kind == "operator":
        operator = Operator.objects.filter(username=name).first()
        name = operator.name if operator else name
    ago = span(now - draft.decided_at)
    return _("%(value)s decided this %(ago)s before you: it is %(state)s.") % {
        "value": name or kind,
        "ago": ago,
        "state": draft.get_state_display(),
    }


def text_limit(draft: Draft) -> int:
    """Maximum length of the text, in characters of the service."""
    traits = draft.account.surface.traits
    return (draft.what == DraftKind.POST and traits.post_limit) or traits.text_limit


def checked(draft: Draft, typed: Mapping[str, str]) -> dict[str, str]:
    """Clean an edited form; title and community are for posts only."""
    if draft.what != DraftKind.POST:
        return {"text": typed["text"]}
    community = typed["community"]
    if len(community) > 200:
        raise BadInput(_lazy("The community has more than 200 characters. Enter its short name."))
    if len(typed["title"]) > 300:
        raise BadInput(
            _lazy("The title has %(typed)s characters. Enter at most 300."),
            typed=len(typed["title"]),
        )
    return {"text": typed["text"], "title": typed["title"], "community": community}
