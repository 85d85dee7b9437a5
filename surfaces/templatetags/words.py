"""Words for templates: times, people, counts, and strangers' text made safe."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

from django import template
from django.conf import settings
from django.contrib.messages.storage.base import Message
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as dated
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import (
    get_language,
    gettext,
    gettext_noop,
    ngettext,
    pgettext,
    to_locale,
)

from surfaces import showing, telling, toasts
from surfaces.models import Account

register = template.Library()

NOW = timedelta(seconds=5)
UNITS = (
    gettext_noop("s"), gettext_noop("min"), gettext_noop("h"), gettext_noop("day"),
    gettext_noop("days"),
)  # fmt: skip
HEX = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28,}\b")  # a digest, of which the beginning tells
PAGES = {"draft": "draft", "message": "message", "account": "account"}
ACTORS = {
    "sender": "the sender",
    "watcher": "the watcher",
    "spam": "the spam filter",
    "system": "the system",
    "command": "the command line",
}


# ── pictures ──────────────────────────────────────────────────────────────


@register.simple_tag
def icon(name: str) -> SafeString:
    """`{% icon "home" %}`: decoration beside a word, so silent."""
    return format_html(
        '<svg class="i" aria-hidden="true"><use href="{}#i-{}"/></svg>',
        static("img/icons.svg"),
        name,
    )


@register.simple_tag
def face(name: str, kind: str = "person") -> SafeString:
    """`{% face name "person" %}`: round a person, "bot" a square, "our" a petrol square."""
    letters = showing.initials(name)
    css = {"person": "face", "bot": "face bot", "our": "face our"}[kind]
    return format_html('<span class="{}" aria-hidden="true">{}</span>', css, letters)


@register.simple_tag
def who(message: Any) -> SafeString:
    """Face and name of who wrote a message; ours, an agent, or a person."""
    kind = "our" if message.is_ours else "bot" if message.author_is_bot else "person"
    return format_html(
        '<span class="who">{}<bdi class="strong">{}</bdi></span>',
        face(message.author, kind),
        message.author or gettext("unknown"),
    )


# ── languages ─────────────────────────────────────────────────────────────


@register.filter
def told(words: object) -> str:
    """A sentence the program wrote in English, in the language of who looks."""
    text = "" if words is None else str(words)
    known = telling.catalog(settings.LOCALE_PATHS[0], to_locale(get_language() or "en"))
    return text if known is None else known.tell(text)


@register.filter
def told_all(several: Iterable[object]) -> str:
    """Several sentences, one after the other."""
    return (" " if stop() == "." else "").join(told(one) for one in several)


@register.simple_tag
def stop() -> str:
    """`{% stop %}`: the full stop of the language."""
    return pgettext("at the end of a sentence", ".")


# ── times ─────────────────────────────────────────────────────────────────


@register.simple_tag
def ago(
    moment: datetime | None, late_after: int = 0, now: str = "", after: str = ""
) -> SafeString | str:
    """`{% ago moment %}`: "22 min", the exact time on hover. Amber after `late_after` minutes.

    In a sentence, `after=" ago"` follows a length of time and `now` stands for none.
    """
    if moment is None:
        return gettext("never")
    passed = timezone.now() - moment
    is_late = late_after and passed > timedelta(minutes=late_after)
    length = told(showing.span(abs(passed), short=True))
    words = (now or gettext("now")) if abs(passed) < NOW else length + after
    return format_html(
        '<time datetime="{}" title="{}"{}>{}</time>',
        moment.isoformat(),
        _exact(moment),
        SafeString(' class="late"') if is_late else "",
        gettext("in {length}").format(length=length) if passed <= -NOW else words,
    )


@register.simple_tag
def exact(moment: datetime | None) -> SafeString | str:
    """`{% exact moment %}`: "21 Nov, 14:02:10" in the operator's time zone."""
    if moment is None:
        return gettext("never")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        _exact(moment, zone=True),
        _exact(moment),
    )


@register.filter
def span(length: timedelta | None) -> str:
    """ "2 h 14 min"."""
    return "" if length is None else told(showing.span(length))


def _exact(moment: datetime, *, zone: bool = False) -> str:
    local = timezone.localtime(moment)
    if local.year == timezone.localdate().year:
        said = dated(local, pgettext("date format", "j M, H:i:s"))
    else:
        said = dated(local, pgettext("date format", "j M Y, H:i:s"))
    return f"{said} {local.tzname()}" if zone else said


@register.filter
def day(moment: date | datetime) -> str:
    """ "21 November"."""
    if isinstance(moment, datetime):
        moment = timezone.localtime(moment)
    return dated(moment, pgettext("date format", "j F"))


# ── numbers ───────────────────────────────────────────────────────────────


@register.filter
def number(value: float | None) -> str:
    """ "1,063"."""
    return "" if value is None else f"{value:,}"


@register.filter
def count(value: int, words: str) -> str:
    """`{{ 2|count:"draft" }}`: "2 drafts"; or give both: "reply,replies"."""
    one, _, many = words.partition(",")
    return ngettext(f"{{n}} {one}", f"{{n}} {many or one + 's'}", value).format(n=f"{value:,}")


@register.filter
def percent(share: float | None) -> str:
    """ "88 %", or a dash when there is nothing to divide."""
    return "–" if share is None else f"{round(share * 100)} %"


# ── words of others ───────────────────────────────────────────────────────


@register.filter
def said(text: str) -> SafeString:
    """Strangers' markdown as safe HTML, direction isolated, capped."""
    return SafeString(showing.said(text or ""))


@register.filter
def plain(text: str, most: int = 160) -> str:
    """One line of it, for lists. Put it into `<bdi>`."""
    return showing.plain(text or "", most)


@register.filter
def actor(name: str) -> str:
    """ "operator:mira" as "mira", "sender" as "the sender"."""
    kind, _, rest = name.partition(":")
    if kind in {"operator", "agent"} and rest:
        return rest
    if kind == "command" and rest:
        return gettext("the command {name}").format(name=rest)
    words = told(ACTORS.get(kind, kind))
    return gettext("{who} of {name}").format(who=words, name=rest) if rest else words


@register.filter
def deed(action: str) -> str:
    """ "draft.marked_spam" as "draft marked spam"."""
    return told(action.replace(".", " ").replace("_", " "))


@register.filter
def facts(given: dict[str, object]) -> list[tuple[str, str]]:
    """Name and words of each fact of a ledger line."""
    shown = showing.facts(given or {})
    return [(told(name), HEX.sub(r"\1…", told(words))) for name, words in shown]


@register.simple_tag
def subject_link(subject: str) -> SafeString:
    """`draft:12` as a link to the draft, where there is a page for it."""
    kind, _, name = subject.partition(":")
    words = f"{told(kind)} {name}".strip()
    page = PAGES.get(kind)
    if page and name.isascii() and name.isdigit():
        return format_html('<a href="{}">{}</a>', reverse(f"surfaces:{page}", args=[name]), words)
    return format_html("<bdi>{}</bdi>", gettext("everything") if kind == "all" else words)


@register.simple_tag
def state_words(account: Account) -> SafeString:
    """ "Limited until 21 Nov, 14:20:00": the state, and since or until when."""
    if not account.surface.is_on:
        return format_html(gettext("{surface} is off"), surface=account.surface.name)
    if not account.is_on:
        return format_html("{}", gettext("Switched off"))
    if account.state == "ok":
        return format_html("{}", gettext("Working"))
    moment = exact(account.state_until or account.state_since)
    since, until = gettext("{state} since {time}"), gettext("{state} until {time}")
    words = until if account.state_until else since
    return format_html(words, state=told(account.get_state_display()), time=moment)


@register.filter
def sentence(words: str) -> str:
    """A capital in front and a full stop behind."""
    words = told(words.strip())
    if not words:
        return words
    return words[0].upper() + words[1:] + stop() * (words[-1] not in ".!?…。！？")


@register.filter
def plain_name(name: str) -> str:
    """ "comment_day" as "comment day"."""
    return told(name.replace("_", " "))


@register.filter
def per(length: timedelta) -> str:
    """ "per min", "per 20 s"."""
    words = told(showing.span(length).removeprefix("1 "))
    return gettext("per {length}").format(length=words)


@register.filter
def state_css(account: Account) -> str:
    """The class of the dot before an account's name."""
    if not (account.is_on and account.surface.is_on):
        return ""
    return "ok" if account.state == "ok" else "bad" if account.needs_person else "wait"


@register.filter
def undo_of(message: Message) -> toasts.Undo | None:
    return toasts.undo_of(message)
