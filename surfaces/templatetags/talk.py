"""Words for the pages of messages, threads and drafts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from django import template
from django.utils import timezone
from django.utils.dateformat import format as dated
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_noop, pgettext

from surfaces import pointing
from surfaces.models import Draft, Message
from surfaces.templatetags.words import told

register = template.Library()

# Of a text of ours, in this order.
PARTS = (gettext_noop("Terms"), gettext_noop("Pointer"), gettext_noop("Exit"))
PART = re.compile(r"(?<!\S)(Terms|Pointer|Exit):\s+")


@register.filter
def query(asked: Mapping[str, str]) -> str:
    """Wishes as a query string."""
    return urlencode(asked)


@register.filter
def of(rows: Mapping[int, Any], key: int) -> Any:
    """`{{ news|of:post.pk }}`."""
    return rows.get(key, {})


@register.filter
def is_web(url: str) -> bool:
    """Whether a surface's link may stand in `href`: strangers name it, so only web pages."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)


@register.filter
def spam_why(message: Message) -> str:
    """Why the filter held or caught it: "Link to a new domain; shouting. Score 0.71"."""
    if message.spam_status not in {"spam", "suspect"}:
        return ""
    words = [str(reason[-1]).rstrip(".") for reason in message.spam_reasons if reason]
    score = "" if message.spam_score is None else f"score {message.spam_score:.2f}"
    return "; ".join([*words, score]).strip("; ")


@register.simple_tag
def spoken(text: str) -> SafeString:
    """Our words as they will be sent; where they name their parts, the names in the margin."""
    marks = list(PART.finditer(text))
    names = [mark[1] for mark in marks]
    if len(marks) < 2 or names != [part for part in PARTS if part in names]:
        return format_html('<div class="as-sent" dir="auto">{}</div>', text)
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    parts = [
        (f"{mark[1]}: ", text[mark.end() : end].rstrip())
        for mark, end in zip(marks, ends, strict=True)
    ]
    if before := text[: marks[0].start()].rstrip():
        parts.insert(0, ("", before))
    rows = format_html_join("", "<div><dt>{}</dt><dd>{}</dd></div>", parts)
    return format_html('<dl class="as-sent parts" dir="auto">{}</dl>', rows)


@register.simple_tag
def voiced(draft: Draft, to: Message | None) -> SafeString:
    """A draft as it will be sent; a voice's parts named in the margin, what it quotes marked."""
    meant = zip(PARTS, (draft.terms, draft.pointer, draft.exit), strict=True)
    parts = pointing.laid_out(draft.text, meant)
    if not any(name for name, _ in parts):
        return spoken(draft.text)
    there = pointing.standing(pointing.quotes(draft.pointer), to.content if to else "")
    rows = [(told(name), _marked(words, there)) for name, words in parts]
    shown = format_html_join("", "<div><dt>{}</dt><dd>{}</dd></div>", rows)
    return format_html('<dl class="as-sent parts" dir="auto">{}</dl>', shown)


def _marked(words: str, passages: list[str]) -> SafeString:
    pieces = pointing.cut(words, pointing.spans(words, passages))
    shown = [format_html("<mark>{}</mark>", w) if is_marked else w for is_marked, w in pieces]
    return format_html_join("", "{}", ((piece,) for piece in shown))


@register.simple_tag
def pointed(text: str, draft: Draft) -> SafeString:
    """A stranger's words made safe, with the passage marked that the draft points at."""
    words = pointing.said_with_marks(text, pointing.quotes(draft.pointer))
    return mark_safe(words)  # noqa: S308 - sanitised by `showing.said`


@register.simple_tag
def clock(moment: datetime) -> SafeString:
    """The time of a step: "14:02:10" today, "21 Nov 14:02" before, exact on hover."""
    local = timezone.localtime(moment)
    if local.date() == timezone.localdate():
        words = f"{local:%H:%M:%S}"
    else:
        words = dated(local, pgettext("date format", "j M H:i"))
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        f"{dated(local, pgettext('date format', 'j F Y, H:i:s'))} {local.tzname()}",
        words,
    )
