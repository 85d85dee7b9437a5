"""Words for the pages of messages, threads and drafts."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from django import template
from django.template import RequestContext
from django.utils import timezone
from django.utils.dateformat import format as dated
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext

from surfaces.drafts.models import Draft
from surfaces.messages.models import Message
from surfaces.text import quotes
from surfaces.text.reasons import FORMATS
from surfaces.web.template_nodes import TokenNode, resolve_address

register = template.Library()

# Of a text of ours, in this order.
PARTS = (gettext_noop("Terms"), gettext_noop("Pointer"), gettext_noop("Exit"))
EXPLAINED = {
    "Terms": gettext_lazy("The common ground that the reply starts from"),
    "Pointer": gettext_lazy("The passage that the reply refers to"),
    "Exit": gettext_lazy("How the conversation can go on or stop"),
}
PART = re.compile(r"(?<!\S)(Terms|Pointer|Exit):\s+")


@register.filter
def query(asked: Mapping[str, str]) -> str:
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
    score = message.spam_score
    words = [] if score is None else [f"{gettext('score')} {score:.2f}"]
    return FORMATS["clauses"]([*message.spam_whys, *words])


def spoken(text: str) -> SafeString:
    """Our words as they will be sent; where they name their parts, the names in the margin."""
    marks = list(PART.finditer(text))
    names = [mark[1] for mark in marks]
    if len(marks) < 2 or names != [part for part in PARTS if part in names]:
        return format_html('<div class="as-sent" dir="auto">{}</div>', text)
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    pairs = zip(marks, ends, strict=True)
    parts = [(f"{mark[1]}: ", text[mark.end() : end].rstrip()) for mark, end in pairs]
    if before := text[: marks[0].start()].rstrip():
        parts.insert(0, ("", before))
    return _parts([(_term(name, name.removesuffix(": ")), words) for name, words in parts])


@register.simple_tag
def voiced(draft: Draft, to: Message | None) -> SafeString:
    """A draft as it will be sent; a voice's parts named in the margin, what it quotes marked."""
    meant = zip(PARTS, (draft.terms, draft.pointer, draft.exit), strict=True)
    parts = quotes.laid_out(draft.text, meant)
    if not any(name for name, _ in parts):
        return spoken(draft.text)
    there = quotes.standing(quotes.quotes(draft.pointer), to.content if to else "")
    return _parts([(_term(gettext(name), name), _marked(words, there)) for name, words in parts])


def _parts(rows: list[tuple[SafeString, str]]) -> SafeString:
    shown = format_html_join("", "<div>{}<dd>{}</dd></div>", rows)
    return format_html('<dl class="as-sent parts" dir="auto">{}</dl>', shown)


def _term(shown: str, part: str) -> SafeString:
    """The name of a part, explained on hover."""
    if part not in EXPLAINED:
        return format_html("<dt>{}</dt>", shown)
    return format_html('<dt title="{}">{}</dt>', EXPLAINED[part], shown)


def _marked(words: str, passages: list[str]) -> SafeString:
    pieces = quotes.cut(words, quotes.spans(words, passages))
    shown = [format_html("<mark>{}</mark>", w) if is_marked else w for is_marked, w in pieces]
    return format_html_join("", "{}", ((piece,) for piece in shown))


@register.simple_tag
def pointed(text: str, draft: Draft) -> SafeString:
    """A stranger's words made safe, with the passage marked that the draft points at."""
    words = quotes.said_with_marks(text, quotes.quotes(draft.pointer))
    return mark_safe(words)  # noqa: S308 - sanitised by `showing.said`


@register.simple_tag(takes_context=True)
def row_act(context: RequestContext, name: str, message: Message, label: str, key: str) -> str:
    """`{% row_act "mark_spam" message _("Spam") "s" %}`: a button that acts and swaps the row."""
    address = resolve_address(f"surfaces:{name}", message.pk)
    return SafeString(
        f'<form method="post" action="{address}" hx-post="{address}"'
        f' hx-target="#message-{message.pk}" hx-swap="outerHTML">{_hidden_fields(context)}'
        f'<button class="btn mini quiet" data-key="{key}">{escape(label)}'
        f" <kbd>{key.upper()}</kbd></button></form>"
    )


@register.simple_tag(takes_context=True)
def thread_act(context: RequestContext, name: str, message: Message, label: str, key: str) -> str:
    """`{% thread_act "mark_spam" m _("Spam") "s" %}`: a button that acts and comes back to `m`."""
    there = f"{context['here']}?message={message.pk}#m{message.pk}"
    return SafeString(
        f'<form method="post" action="{resolve_address(f"surfaces:{name}", message.pk)}">'
        f'{TokenNode().render(context)}<input type="hidden" name="next" value="{there}">'
        f'<button class="btn mini quiet" data-key="{key}">{escape(label)}</button></form>'
    )


def _hidden_fields(context: RequestContext) -> str:
    """The token, and the page to come back to; made once a page."""
    made: str | None = context.render_context.get("hidden_fields")
    if made is None:
        made = TokenNode().render(context)
        if context.request.method == "GET":
            there = context.request.get_full_path()
            made += format_html('<input type="hidden" name="next" value="{}">', there)
        context.render_context["hidden_fields"] = made
    return made


@register.simple_tag
def clock(moment: datetime) -> SafeString:
    """The time of a step: "14:02:10" today, "21 Nov 14:02" before, exact on hover."""
    local = timezone.localtime(moment)
    words = f"{local:%H:%M:%S}"
    if local.date() != timezone.localdate():
        words = dated(local, pgettext("date format", "j M H:i"))
    whole = dated(local, pgettext("date format", "j M Y, H:i:s"))
    html = '<time datetime="{}" title="{}">{}</time>'
    return format_html(html, moment.isoformat(), f"{whole} {local.tzname()}", words)
