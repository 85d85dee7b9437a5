"""Nodes of a template that render what Django's render, in less time.

What they can leave out is known when a template is compiled: see `template_loader`.
"""

from functools import lru_cache
from html import escape
from typing import Any

from django.conf import settings
from django.template import Context, loader_tags
from django.template.base import NodeList, Variable, VariableNode, render_value_in_context
from django.template.defaulttags import CsrfTokenNode, URLNode
from django.templatetags.i18n import BlockTranslateNode
from django.urls import NoReverseMatch, get_script_prefix, reverse
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext

NUMBER = 7_070_707_070_000  # stands for a number in an address until the number is known


class QuickVariable(Variable):
    """A name looked up in dictionaries and attributes; the unusual is left to Django."""

    _resolve_slowly = Variable._resolve_lookup  # type: ignore[attr-defined]

    def _resolve_lookup(self, context: Context) -> Any:
        first, *rest = self.lookups or ()
        try:
            found = context[first]
            for name in rest:
                if callable(found):
                    return self._resolve_slowly(context)
                if type(found) is dict:
                    found = found[name]
                elif hasattr(type(found), "__getitem__"):
                    return self._resolve_slowly(context)
                else:
                    found = getattr(found, name)
        except (KeyError, AttributeError):
            return self._resolve_slowly(context)
        return self._resolve_slowly(context) if callable(found) else found


class IncludedNode(loader_tags.IncludeNode):
    """An include that finds its template once, and pays for nothing but its nodes."""

    def __init__(self, node: loader_tags.IncludeNode) -> None:
        super().__init__(
            node.template, extra_context=node.extra_context, isolated_context=node.isolated_context
        )
        self._nodes: NodeList | None = None

    def render(self, context: Context) -> SafeString:
        if self._nodes is None:
            engine = context.template.engine  # type: ignore[union-attr]
            self._nodes = engine.get_template(self.template.var).nodelist
        values = {name: given.resolve(context) for name, given in self.extra_context.items()}
        if self.isolated_context:
            return self._nodes.render(context.new(values))
        with context.push(**values):
            return self._nodes.render(context)


class SentenceNode(BlockTranslateNode):
    def __init__(self, node: BlockTranslateNode) -> None:
        super().__init__(node.extra_context, node.singular, trimmed=node.trimmed, asvar=node.asvar)
        msgid, self._names = self.render_token_list(self.singular)
        self._words = gettext(msgid)
        try:
            self._words % dict.fromkeys(self._names, "")
        except (KeyError, ValueError):
            self._words = msgid  # a translation with other gaps

    def render(self, context: Context, nested: bool = False) -> str:
        given = {name: each.resolve(context) for name, each in self.extra_context.items()}
        with context.push(**given):
            found = {name: context.get(name, "") for name in self._names}
            values = {name: render_value_in_context(one, context) for name, one in found.items()}
        words = SafeString(self._words % values)
        if self.asvar:
            context[self.asvar] = words
            return ""
        return words


class ValueNode(VariableNode):
    """A value; words and whole numbers need no look at the formats of the language."""

    def render(self, context: Context) -> str:
        value = self.filter_expression.resolve(context)
        if type(value) is SafeString:
            return value
        if type(value) is str and context.autoescape:
            return escape(value)
        if type(value) is int and not settings.USE_THOUSAND_SEPARATOR:
            return str(value)
        return render_value_in_context(value, context)


class TokenNode(CsrfTokenNode):
    """The token, made once a page however many forms there are."""

    def render(self, context: Context) -> str:
        made: str | None = context.render_context.get("token_field")
        if made is None:
            made = context.render_context["token_field"] = super().render(context)
        return made


class AddressNode(URLNode):
    """An address with arguments, reversed once per shape."""

    def __init__(self, node: URLNode) -> None:
        super().__init__(node.view_name, node.args, node.kwargs, node.asvar)

    def render(self, context: Context) -> str:
        args = [each.resolve(context) for each in self.args]
        try:
            url = resolve_address(self.view_name.var, *args)
        except NoReverseMatch:
            if self.asvar is None:
                raise
            url = ""
        if self.asvar:
            context[self.asvar] = url
            return ""
        return conditional_escape(url) if context.autoescape else url


def resolve_address(name: str, *args: object) -> str:
    """As `reverse()`, which is asked once for all numbers: "/threads/7/" and "/threads/8/"."""
    numbers = [str(each) if type(each) is int and each >= 0 else "" for each in args]
    shape = tuple(None if number else str(each) for number, each in zip(numbers, args, strict=True))
    url = _reversed(name, shape, get_script_prefix())
    for number in filter(None, numbers):
        url = url.replace(str(NUMBER), number, 1)
    return url


@lru_cache(maxsize=1024)
def _reversed(name: str, shape: tuple[str | None, ...], prefix: str) -> str:
    return reverse(name, args=[NUMBER if each is None else each for each in shape])
