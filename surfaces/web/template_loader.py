"""Compile our templates once per language, with everything in them that never changes done once.

A literal translation, an address without arguments, an icon: each becomes plain text when
the template is compiled. An include with a fixed name finds its template once. Django's
own templates stay as they are.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from django.template import Context, Node, NodeList, Origin, Template, defaulttags, loader_tags
from django.template.base import FilterExpression, TextNode, Variable, VariableNode
from django.template.library import SimpleNode, TagHelperNode
from django.template.loaders import base, cached
from django.templatetags.i18n import BlockTranslateNode, LanguageNode, TranslateNode
from django.templatetags.static import StaticNode
from django.urls import NoReverseMatch
from django.utils.functional import Promise
from django.utils.translation import get_language

from surfaces.web import template_nodes

N = TypeVar("N", bound=Node)
INDENT = re.compile(r"\s*\n\s*")  # between elements; where it shows, templates have none


class _Compiling(base.Loader):
    """Below the cache: a template is done before anybody else can see it."""

    def get_template(self, template_name: str, skip: list[Origin] | None = None) -> Template:
        template = super().get_template(template_name, skip)
        path = Path(template.origin.name)
        if path.suffix == ".html" and any(map(path.is_relative_to, self.engine.dirs)):
            _Folding(template).fold(template.nodelist)
        return template


class Loader(cached.Loader, _Compiling):
    """Django's cached loader, a copy of each template per language."""

    def cache_key(self, template_name: str, skip: list[Origin] | None = None) -> str:
        return f"{get_language()}-{super().cache_key(template_name, skip)}"


class _Folding:
    """Replace nodes in place by cheaper ones that render the same."""

    def __init__(self, template: Template) -> None:
        self._context = Context()
        self._context.template = template

    def fold(self, nodes: NodeList) -> None:
        folded: list[Node] = []
        for node in nodes:
            for inner in _inside(node):
                self.fold(inner)
            for expression in _expressions(node):
                _prepare(expression)
            new = self._folded(node)
            before = folded[-1] if folded else None
            if isinstance(new, TextNode) and isinstance(before, TextNode):
                folded[-1] = _text(INDENT.sub("\n", before.s + new.s), node)
            else:
                folded.append(new)
        nodes[:] = folded

    def _folded(self, node: Node) -> Node:
        if _is_same_each_time(node):
            try:
                return _text(node.render(self._context), node)
            except NoReverseMatch:
                return node  # says so when it is rendered
        if isinstance(node, TextNode):
            return _text(INDENT.sub("\n", node.s), node)
        quicker = _quicker(node)
        return _like(node, quicker) if quicker else node


def _quicker(node: Node) -> Node | None:
    match node:
        case loader_tags.IncludeNode() if _is_fixed(node.template):
            return template_nodes.IncludedNode(node)
        case VariableNode():
            return template_nodes.ValueNode(node.filter_expression)
        case defaulttags.CsrfTokenNode():
            return template_nodes.TokenNode()
        case defaulttags.URLNode() if _is_fixed(node.view_name) and not node.kwargs:
            return template_nodes.AddressNode(node)
        case BlockTranslateNode() if not node.plural and not node.message_context:
            return template_nodes.SentenceNode(node)
    return None


def _is_same_each_time(node: Node) -> bool:
    match node:
        case TranslateNode():
            return not node.asvar and not node.message_context and _is_fixed(node.filter_expression)
        case BlockTranslateNode():
            given = (node.asvar, node.plural, node.extra_context, node.message_context)
            has_gaps = any(token.token_type.name == "VAR" for token in node.singular)
            return not any(given) and not has_gaps
        case defaulttags.URLNode():
            return not (node.args or node.kwargs or node.asvar) and _is_fixed(node.view_name)
        case StaticNode():
            return not node.varname and _is_fixed(node.path)
        case SimpleNode():
            fixed = all(_is_fixed(given) for given in [*node.args, *node.kwargs.values()])
            return fixed and node.target_var is None and getattr(node.func, "is_pure", False)
        case _:
            return isinstance(node, defaulttags.CommentNode | defaulttags.LoadNode)


def _is_fixed(given: FilterExpression) -> bool:
    is_variable = isinstance(given.var, Variable) and given.var.literal is None
    return not given.filters and not is_variable


def _prepare(given: FilterExpression) -> None:
    """Look names up the short way, and words to translate now: `author|default:_("unknown")`."""
    if isinstance(given.var, Promise):
        given.var = str(given.var)
    elif isinstance(given.var, Variable) and given.var.lookups:
        given.var = template_nodes.QuickVariable(given.var.var)
    given.filters = [
        (filter_, [(is_variable, str(value) if isinstance(value, Promise) else value)
                   for is_variable, value in arguments])
        for filter_, arguments in given.filters
    ]  # fmt: skip


def _inside(node: Node) -> Iterator[NodeList]:
    """Every list of nodes of a node, but those that another language or escaping governs."""
    if isinstance(node, defaulttags.IfNode):
        yield from (nodes for _condition, nodes in node.conditions_nodelists)
    elif not isinstance(node, LanguageNode | defaulttags.AutoEscapeControlNode):
        yield from filter(None, (getattr(node, name, None) for name in node.child_nodelists))


def _expressions(node: Any) -> Iterator[Any]:
    match node:
        case VariableNode():
            yield node.filter_expression
        case defaulttags.IfNode():
            for condition, _nodes in node.conditions_nodelists:
                yield from _operands(condition)
        case defaulttags.ForNode():
            yield node.sequence
        case defaulttags.URLNode():
            yield from node.args
        case TagHelperNode():
            yield from (*node.args, *node.kwargs.values())
        case loader_tags.IncludeNode() | defaulttags.WithNode() | BlockTranslateNode():
            yield from node.extra_context.values()


def _operands(condition: Any) -> Iterator[Any]:
    if isinstance(condition, defaulttags.TemplateLiteral):
        yield condition.value
    elif condition is not None:
        yield from _operands(condition.first)
        yield from _operands(condition.second)


def _text(words: str, node: Node) -> TextNode:
    return _like(node, TextNode(words))


def _like(node: Node, new: N) -> N:
    """Errors are told of where the node stood."""
    new.token, new.origin = node.token, node.origin
    return new
