"""Comments on the desk: suspect, or failed without a draft."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import F, Func, QuerySet, TextField, Value
from django.db.models.functions import MD5, Cast, Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from surfaces.desk.kinds import Action, ActionInput, DeskKind, RowSummary
from surfaces.desk.models import DeskItem
from surfaces.drafts import retry, undo
from surfaces.messages.models import Message, ReplyStatus, SpamStatus, beginning
from surfaces.spam import feedback
from surfaces.spam.models import SpamDecision
from surfaces.text.reasons import label
from surfaces.text.spans import span
from surfaces.threads import context as thread_context
from surfaces.threads import timeline

EXCERPT = 240
HEAVY = ["raw_json", "search", "account__sealed_credential", "account__cursor"]
IN_QUEUE = (
    *("author", "spam_score", "spam_reasons", "reply_why"),
    *("account__name", "account__surface__name"),
)


def stamped(rows: QuerySet[Message]) -> QuerySet[Message]:
    """Each with a `stamp` of what was said and what the filter makes of it."""
    names = ("content", "title", "author", "spam_status", "reply_status", "deleted_at")
    said = [Coalesce(Cast(F(name), TextField()), Value("")) for name in names]
    joined = Func(Value("\x1f"), *said, function="CONCAT_WS", output_field=TextField())
    return rows.annotate(stamp=MD5(joined))


def load(ids: Iterable[int]) -> Mapping[int, Message]:
    rows = Message.objects.filter(pk__in=list(ids)).select_related("account__surface")
    rows = rows.only(*IN_QUEUE).annotate(excerpt=beginning("content", EXCERPT))
    return {row.pk: row for row in stamped(rows)}


def get(pk: int) -> Message | None:
    rows = Message.objects.select_related("account__surface", "post")
    rows = rows.defer(*HEAVY, "post__raw_json", "post__search").filter(pk=pk)
    return stamped(rows).first()


def lock(pk: int) -> object:
    """A surface that reports an edit waits until the decision is made."""
    return Message.objects.select_for_update(of=("self",)).filter(pk=pk).values_list("pk").first()


def _line(row: Any, whys: tuple[str, ...], badge: str = "", css: str = "") -> RowSummary:
    return RowSummary(
        who=row.account.name, place=row.account.surface.name, author=row.author, said=row.excerpt,
        whys=whys, badge=badge, badge_css=css, stamp=row.stamp,
    )  # fmt: skip


def _suspect(row: Any, item: DeskItem) -> RowSummary:
    whys = tuple(row.spam_whys[:2])
    score = f"{row.spam_score:.2f}" if row.spam_score is not None else ""
    css = "bad" if item.risk == 2 else "wait" if item.risk == 1 else ""
    return _line(row, whys or (_("Held by the filter."),), score, css)


def _given_up(row: Any, item: DeskItem) -> RowSummary:
    return _line(row, (str(row.reply_why) or _("All attempts failed."),))


def title(row: Message) -> str:
    named = {"author": row.author or _("unknown"), "place": row.account.surface.name}
    return _("@%(author)s on %(place)s") % named


def context(row: Message, now: datetime) -> dict[str, Any]:
    return {"message": row, "around": thread_context.of_message(row), "rules": row.spam_whys}


def decided(row: Message, me: str, now: datetime) -> str:
    """Who called a comment spam or clean; "" while it is suspect."""
    decision = SpamDecision.objects.filter(message=row).first()
    if decision is None or row.spam_status == SpamStatus.SUSPECT:
        return ""
    said = label("word", "spam" if decision.is_spam else "clean")
    who = _("You") if decision.by == me else decision.by.partition(":")[2] or decision.by
    named = {"who": who, "said": said, "span": span(now - decision.at)}
    return _("%(who)s marked this as %(said)s %(span)s ago.") % named


def _opened(row: Message, me: str, now: datetime) -> str:
    return "" if row.reply_status == ReplyStatus.FAILED else _("It was reset or resolved.")


def spam(row: Message, given: ActionInput) -> str:
    feedback.mark(row, is_spam=True, by=given.by, now=given.now)
    return _("Marked as spam: @%(author)s.") % {"author": row.author[:60]}


def clean(row: Message, given: ActionInput) -> str:
    feedback.mark(row, is_spam=False, by=given.by, now=given.now)
    return _("Marked as clean: @%(author)s. Agents may reply to it.") % {"author": row.author[:60]}


def _unmark(row: Message, given: ActionInput) -> str:
    feedback.unmark(row, by=given.by, now=given.now)
    return _("Undone. The spam filter’s verdict applies again.")


def fresh_tries(row: Message, given: ActionInput) -> str:
    retry.retry_message(row, by=given.by, now=given.now)
    named = {"author": row.author[:60]}
    return _("Attempts reset; up to 10 more for the comment by @%(author)s.") % named


def _no_tries(row: Message, given: ActionInput) -> str:
    undo.undo_retry_message(row, by=given.by, now=given.now)
    return _("Undone. The comment is listed as failed again.")


SPAM = Action(name="spam", label=_lazy("Spam"), key="s", css="danger", verb=spam, undo=_unmark)
CLEAN = Action(name="clean", label=_lazy("Clean"), key="c", css="primary", verb=clean,
            undo=_unmark)  # fmt: skip
TRY = Action(name="try_again", label=_lazy("Retry"), key="t", css="primary",
          verb=fresh_tries, undo=_no_tries)  # fmt: skip

SHARED: dict[str, Any] = {"subject": "message", "load": load, "get": get, "lock": lock,
                          "context": context, "title": title,
                          "steps": timeline.of_message}  # fmt: skip
KINDS = [
    DeskKind(name="suspect", label=_lazy("Suspect comment"), short=_lazy("Suspect"),
         plural=_lazy("Suspect comments"), icon="flag", css="wait", line=_suspect, decided=decided,
         template="surfaces/desk/_comment_item.html", acts=(CLEAN, SPAM), **SHARED),
    DeskKind(name="given_up", label=_lazy("Failed comment"), short=_lazy("Failed"),
         plural=_lazy("Failed comments"), icon="x", css="bad", line=_given_up, decided=_opened,
         template="surfaces/desk/_gave_up_item.html", acts=(TRY, SPAM), **SHARED),
]  # fmt: skip
