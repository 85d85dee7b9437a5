"""Words for templates: times, people, counts, and strangers' text made safe."""

import json
import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from html import escape
from typing import Any, ParamSpec, TypeVar

from django import template
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as dated
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext, ngettext, pgettext

from surfaces.accounts.models.account import Account
from surfaces.text import format, markdown, spans
from surfaces.text.reasons import FORMATS, label, render
from surfaces.web import toasts
from surfaces.web.requests import parse_id

register = template.Library()

P = ParamSpec("P")
T = TypeVar("T")
NOW = timedelta(seconds=5)
CLOCK = "H:i:s"  # in a date format
HEX = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28,}\b")  # a digest, of which the beginning tells
HAVE_PAGES = {"draft", "message", "account"}


def pure(tag: Callable[P, T]) -> Callable[P, T]:
    """Say that a tag shows the same each time, in one language: a page renders it once."""
    tag.is_pure = True  # type: ignore[attr-defined]
    return tag


@register.simple_tag
@pure
@cache
def icon(name: str) -> SafeString:
    """`{% icon "home" %}`: decoration beside a word, so silent."""
    html = '<svg class="i" aria-hidden="true"><use href="{}#i-{}"/></svg>'
    return format_html(html, static("img/icons.svg"), name)


@register.simple_tag
def face(name: str, kind: str = "person") -> SafeString:
    """`{% face name "person" %}`: round a person, "bot" a square, "our" a petrol square."""
    letters = escape(format.initials(name))
    css = {"person": "face", "bot": "face bot", "our": "face our"}[kind]
    return SafeString(f'<span class="{css}" aria-hidden="true">{letters}</span>')


@register.simple_tag
def author_face(message: Any) -> SafeString:
    kind = "our" if message.is_ours else "bot" if message.author_is_bot else "person"
    return face(message.author, kind)


@register.simple_tag
def who(message: Any) -> SafeString:
    html = '<span class="who">{}<bdi class="strong">{}</bdi></span>'
    return format_html(html, author_face(message), message.author or gettext("unknown"))


register.filter("reason", render)
register.filter("undo_of", toasts.undo_of)


@register.filter("plain_name")
@register.filter
def word(name: str) -> str:
    """What people call a state, a mode or a role: "auth_failed" as "auth failed"."""
    return label("word", str(name or ""))


@register.filter
def joined(several: Iterable[object]) -> str:
    return FORMATS["sentences"]([str(one) for one in several])


@register.filter
def listed(several: Iterable[object]) -> str:
    """ "a, b", with the separator of the language."""
    return FORMATS["list"]([str(one) for one in several])


@register.simple_tag
@pure
def stop() -> str:
    """`{% stop %}`: the full stop of the language."""
    return pgettext("at the end of a sentence", ".")


@register.simple_tag
@pure
def comma() -> str:
    """`{% comma %}`: the comma of the language."""
    return pgettext("between parts of a sentence", ",")


@register.simple_tag
@pure
def colon() -> str:
    """`{% colon %}`: the colon of the language."""
    return pgettext("between parts of a sentence", ":")


@register.simple_tag
def ago(moment: datetime | None, late_after: int = 0, now: str = "", after: str = "") -> str:
    """`{% ago moment %}`: "22 min", the exact time on hover. Amber after `late_after` minutes.
    In a sentence, `after=" ago"` follows a length of time and `now` stands for none.
    """
    if moment is None:
        return gettext("never")
    passed = timezone.now() - moment
    css = ' class="late"' if late_after and passed > timedelta(minutes=late_after) else ""
    if abs(passed) < NOW:
        words = now or gettext("now")
    else:
        length = spans.span(abs(passed), short=True)
        is_past = passed > timedelta()
        words = length + after if is_past else gettext("in {length}").format(length=length)
    return _time(moment, _exact(moment), words, css)


@register.simple_tag
def exact(moment: datetime | None) -> SafeString | str:
    """`{% exact moment %}`: "21 Nov, 14:02:10" in the operator's time zone."""
    if moment is None:
        return gettext("never")
    words = _exact(moment)
    return _time(moment, f"{words} {timezone.localtime(moment).tzname()}", words)


def _time(moment: datetime, title: str, words: str, css: str = "") -> SafeString:
    return SafeString(
        f'<time datetime="{moment.isoformat()}" title="{escape(title)}"{css}>{escape(words)}</time>'
    )


@register.filter
def span(length: timedelta | None) -> str:
    """ "2 h 14 min"."""
    return "" if length is None else spans.span(length)


def _exact(moment: datetime) -> str:
    local = timezone.localtime(moment)
    pattern = pgettext("date format", "j M Y, H:i:s")
    if local.year == timezone.now().astimezone(local.tzinfo).year:
        pattern = pgettext("date format", "j M, H:i:s")
    words = _day_words(local.date(), pattern, get_language())
    return words.replace(CLOCK, f"{local:%H:%M:%S}")


@lru_cache(maxsize=512)
def _day_words(on: date, pattern: str, language: str | None) -> str:
    """A day in words; the time of day stays open, as `CLOCK`."""
    return dated(on, pattern.replace(CLOCK, "".join(f"\\{letter}" for letter in CLOCK)))


@register.filter
def clock(moment: datetime) -> str:
    """ "19:40" today, "23 Nov, 19:40" on another day."""
    local = timezone.localtime(moment)
    if local.date() == timezone.localtime().date():
        return f"{local:%H:%M}"
    return dated(local, pgettext("date format", "j M, H:i"))


@register.filter
def day(moment: date | datetime) -> str:
    """ "21 November"."""
    if isinstance(moment, datetime):
        moment = timezone.localtime(moment)
    return dated(moment, pgettext("date format", "j F"))


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


@register.filter
def said(text: str) -> SafeString:
    """Strangers' markdown as safe HTML, direction isolated, capped."""
    return SafeString(markdown.render_untrusted(text or ""))


@register.filter
def plain(text: object, most: int = 160) -> str:
    """One line of it, for lists. Put it into `<bdi>`."""
    return format.one_line(str(text or ""), most)


@register.filter
def actor(name: str) -> str:
    """ "operator:mira" as "mira", "sender" as "the sender"."""
    kind, _, rest = name.partition(":")
    if kind in {"operator", "agent"} and rest:
        return rest
    if kind == "command" and rest:
        return gettext("the command {name}").format(name=rest)
    words = label("actor", kind)
    return gettext("{who} of {name}").format(who=words, name=rest) if rest else words


@register.filter
def deed(action: str) -> str:
    return label("action", action)


@register.filter
def facts(given: dict[str, object]) -> list[tuple[str, str]]:
    pairs = (given or {}).items()
    return [(label("fact", name), HEX.sub(r"\1…", _fact(value))) for name, value in pairs]


def _fact(value: object, *, is_whole: bool = True) -> str:
    """One value of an audit event; [before, after] becomes "before → after"."""
    if is_whole and isinstance(value, list) and len(value) == 2:
        return " → ".join(_fact(part, is_whole=False) for part in value)
    if isinstance(value, dict) and "code" in value:
        return render(value)
    if isinstance(value, list) and value:
        return format.one_line(", ".join(_fact(part, is_whole=False) for part in value), 200)
    if isinstance(value, dict) and value:
        return format.one_line(json.dumps(value, ensure_ascii=False), 200)
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if value in (None, "", {}, []):
        return gettext("nothing")
    text = format.one_line(str(value), 200)
    return label("word", text) if text.islower() and text.isalpha() else text


@register.simple_tag
def subject_link(subject: str) -> SafeString:
    """`draft:12` as a link to the draft, where there is a page for it."""
    kind, _, name = subject.partition(":")
    words = f"{label('entity', kind)} {name}".strip()
    if kind in HAVE_PAGES and parse_id(name) is not None:
        return format_html('<a href="{}">{}</a>', reverse(f"surfaces:{kind}", args=[name]), words)
    return format_html("<bdi>{}</bdi>", gettext("everything") if kind == "all" else words)


@register.simple_tag
def state_words(account: Account) -> SafeString:
    """ "Limited until 21 Nov, 14:20:00": the state, and since or until when."""
    if not account.surface.is_on:
        return format_html(gettext("{surface} is off"), surface=account.surface.name)
    if not account.is_on:
        return format_html("{}", gettext("Switched off"))
    if account.state == "ok":
        return format_html("{}", capfirst(str(account.identity_note)) or gettext("Working"))
    moment = exact(account.state_until or account.state_since)
    since, until = gettext("{state} since {time}"), gettext("{state} until {time}")
    words = until if account.state_until else since
    return format_html(words, state=account.get_state_display(), time=moment)


@register.filter
def sentence(words: object) -> str:
    """A capital in front and a full stop behind."""
    said = str(words or "").strip()
    if not said:
        return said
    return said[0].upper() + said[1:] + stop() * (said[-1] not in ".!?…。！？")


@register.filter
def per(length: timedelta) -> str:
    """ "per min", "per 20 s"."""
    words = spans.span(length).removeprefix("1 ")
    return gettext("per {length}").format(length=words)


@register.filter
def state_css(account: Account) -> str:
    if not (account.is_on and account.surface.is_on):
        return ""
    return "ok" if account.is_well else "bad" if account.needs_person else "wait"
