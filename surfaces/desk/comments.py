"""Comments on the desk: suspect, or given up before there were words for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models.functions import Left
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surfaces import drafting, judging, surroundings, timeline, undoing
from surfaces.desk.kinds import Act, Given, Kind, Line
from surfaces.models import DeskItem, Message, SpamDecision
from surfaces.models.message import ReplyStatus, SpamStatus
from surfaces.showing import span

EXCERPT = 240
HEAVY = ["raw_json", "search", "account__sealed_credential", "account__cursor"]
KNOWN = 3  # how many of an author's messages tell that they were here before


def load(ids: Iterable[int]) -> Mapping[int, Message]:
    rows = Message.objects.filter(pk__in=list(ids)).select_related("account__surface")
    rows = rows.defer(*HEAVY, "content").annotate(excerpt=Left("content", EXCERPT))
    return {row.pk: row for row in rows}


def get(pk: int) -> Message | None:
    rows = Message.objects.select_related("account__surface", "post")
    return rows.defer(*HEAVY, "post__raw_json", "post__search").filter(pk=pk).first()


def _line(row: Any, whys: tuple[str, ...], badge: str = "", css: str = "") -> Line:
    return Line(
        who=row.account.name,
        place=row.account.surface.name,
        author=row.author,
        said=row.excerpt,
        whys=whys,
        badge=badge,
        badge_css=css,
    )


def _suspect(row: Any, item: DeskItem) -> Line:
    whys = tuple(str(reason[1]) for reason in row.spam_reasons[:2])
    score = f"{row.spam_score:.2f}" if row.spam_score is not None else ""
    css = "bad" if item.risk == 2 else "wait" if item.risk == 1 else ""
    return _line(row, whys or ("Held by the filter.",), score, css)


def _given_up(row: Any, item: DeskItem) -> Line:
    return _line(row, (row.reply_why or "Given up.",))


def title(row: Message) -> str:
    named = {"author": row.author or _("unknown"), "place": row.account.surface.name}
    return _("@%(author)s on %(place)s") % named


def context(row: Message, now: datetime) -> dict[str, Any]:
    return {"message": row, "around": surroundings.of_message(row), "rules": row.spam_reasons}


def decided(row: Message, me: str, now: datetime) -> str:
    """Who called a comment spam or clean; "" while it is suspect."""
    decision = SpamDecision.objects.filter(message=row).first()
    if decision is None or row.spam_status == SpamStatus.SUSPECT:
        return ""
    said = "spam" if decision.is_spam else "clean"
    who = "You" if decision.by == me else decision.by.partition(":")[2] or decision.by
    return f"{who} called this {said} {span(now - decision.at)} ago."


def _opened(row: Message, me: str, now: datetime) -> str:
    return "" if row.reply_status == ReplyStatus.FAILED else "It is open again or was settled."


# ── acts ──────────────────────────────────────────────────────────────────


def spam(row: Message, given: Given) -> str:
    judging.mark(row, is_spam=True, by=given.by, now=given.now)
    return f"Spam: @{row.author[:60]}."


def clean(row: Message, given: Given) -> str:
    judging.mark(row, is_spam=False, by=given.by, now=given.now)
    return f"Clean: @{row.author[:60]}. It may be answered."


def _unmark(row: Message, given: Given) -> str:
    undoing.unmark(row, by=given.by, now=given.now)
    return "Undone. The filter’s own word stands again."


def fresh_tries(row: Message, given: Given) -> str:
    drafting.try_again(row, by=given.by, now=given.now)
    return f"The comment by @{row.author[:60]} has ten fresh tries."


def _no_tries(row: Message, given: Given) -> str:
    undoing.give_no_tries(row, by=given.by, now=given.now)
    return "Undone. The comment is given up again."


SPAM = Act(name="spam", label=gettext_lazy("Spam"), key="s", css="danger", verb=spam, undo=_unmark)
CLEAN = Act(name="clean", label=gettext_lazy("Clean"), key="c", css="primary", verb=clean,
            undo=_unmark)  # fmt: skip
TRY = Act(name="try_again", label=gettext_lazy("Ten fresh tries"), key="a", css="primary",
          verb=fresh_tries, undo=_no_tries)  # fmt: skip

SHARED: dict[str, Any] = {"load": load, "get": get, "context": context, "title": title,
                          "steps": timeline.of_message}  # fmt: skip
KINDS = [
    Kind(name="suspect", label=gettext_lazy("Suspect comment"), short=gettext_lazy("Suspect"),
         plural=gettext_lazy("Suspect comments"), icon="flag", css="wait", line=_suspect,
         template="surfaces/desk/_suspect.html", decided=decided, acts=(CLEAN, SPAM), **SHARED),
    Kind(name="given_up", label=gettext_lazy("Comment given up"), short=gettext_lazy("Given up"),
         plural=gettext_lazy("Comments given up"), icon="x", css="bad", line=_given_up,
         template="surfaces/desk/_given_up.html", decided=_opened, acts=(TRY, SPAM), **SHARED),
]  # fmt: skip
