"""Words that a tool publishes: checked, within the limits, put down as a draft by the mode."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.utils import translation

from dialogue.activations import drafting
from dialogue.activations.drafting import DraftWords
from dialogue.activations.services import account_to_speak_from
from dialogue.agents import presences
from dialogue.agents.limits import in_threads, posts_of, replies_of, said_today
from dialogue.models import Agent, Presence
from dialogue.tools import grants
from dialogue.tools.base import ToolContext, ToolError, ToolResult
from dialogue.tools.lookup import english, granted
from dialogue.tools.results import secrets_of
from dialogue.voice.base import Reply
from dialogue.voice.briefs import last_texts
from dialogue.voice.output_checks import OutputContext, find_problems
from surfaces.drafts.models import DraftKind, DraftState
from surfaces.errors import RuleBroken
from surfaces.models import Account, Draft, Message

RECENT = 20  # newest drafts searched for the last words
MOST_PEOPLE = 500  # of a thread
STATES = {
    DraftState.WAITING: "it waits for an operator, who may edit or reject it",
    DraftState.APPROVED: "it is approved and will be sent soon",
    DraftState.SHADOWED: "shadow mode: it is kept for operators and never sent",
    DraftState.SENT: "it was sent",
}


def publish(
    context: ToolContext,
    *,
    content: str,
    target: Message | None = None,
    community: str = "",
    title: str = "",
    also_named: Iterable[str] = (),
    origin: str,
) -> ToolResult:
    """Put words down as a draft, or raise `ToolError` in words for the model.

    The same call again returns the draft that it made.
    """
    with transaction.atomic():
        account = account_to_speak_from(context.activation)
        live = Draft.objects.alive().filter(written_for=context.call_key, account=account)
        if context.call_key and (draft := live.first()):
            return _told(draft)
        presence = Presence.objects.select_related("agent__settings").get(
            pk=context.activation.presence_id
        )
        what = _kind(target)
        if target is None:
            community = community or presences.community_of(presence)
            _check_community(account, community)
        where = target.post.submolt if target else community
        _check_granted(context, where, is_named=target is None)
        _check_limits(presence, target, now=context.now)
        _check_text(presence, account, target, content, title, community, also_named)
        words = DraftWords(
            what=what, target=target, text=content, title=title, community=community,
            origin=f"tool:{origin}", written_for=context.call_key,
        )  # fmt: skip
        try:
            with transaction.atomic():
                draft = drafting.put_down(context.activation, words, now=context.now)
        except RuleBroken as error:
            raise ToolError(f"It was not written: {english(error)}") from error
    return _told(draft)


def _check_community(account: Account, community: str) -> None:
    if account.surface.traits.needs_community and not community:
        raise ToolError("A post here needs a community. Name one that fits it, with hub_post.")


def _check_granted(context: ToolContext, community: str, *, is_named: bool) -> None:
    """A post without a community goes where the service puts it: to none that may be denied.

    `is_named`: by the model. What others named is not repeated: an error is not labelled as data.
    """
    kept, kind = context.activation.agent.settings.grants, context.account.surface.kind
    is_unknown = not community and grants.denies_some(kept, f"{kind}:write")
    if is_unknown or not granted(context, "write")(community):
        where = (community or "no community in particular") if is_named else "that community"
        raise ToolError(f"You have no grant to write in {where}.")


def _kind(target: Message | None) -> DraftKind:
    if target is None:
        return DraftKind.POST
    return DraftKind.COMMENT if target.is_post else DraftKind.REPLY


def _told(draft: Draft) -> ToolResult:
    about = {
        DraftKind.POST: "a new post",
        DraftKind.COMMENT: f"a comment on message {draft.target_id}",
        DraftKind.REPLY: f"a reply to message {draft.target_id}",
    }[DraftKind(draft.what)]
    state = STATES.get(DraftState(draft.state), f"its state is {draft.state}")
    said = f"Draft {draft.pk} was written, {about}; {state}. Do not write it again."
    return ToolResult(text=said, draft=draft)


def _check_limits(presence: Presence, target: Message | None, *, now: datetime) -> None:
    agent, kept = presence.agent, presence.agent.settings
    if target is None:
        posts = posts_of([agent.slug])
        here = posts.filter(account=presence.account_id)
        _check(said_today(posts, agent, now=now), kept.posts_per_day, "posts today")
        _check(said_today(here, agent, now=now), presence.stones_per_day, "posts here today")
        return
    replies = replies_of([agent.slug])
    post = target.post_id
    _check(said_today(replies, agent, now=now), kept.replies_per_day, "replies today")
    in_thread = in_threads(replies, [post])[agent.slug, post]
    _check(in_thread, kept.replies_per_thread, "replies in this thread")
    free_at = _last_said(agent, now=now)
    if free_at and free_at + kept.spacing > now:
        wait = int((free_at + kept.spacing - now).total_seconds()) + 1
        raise ToolError(f"Your last reply was just written. The next may be in {wait} s.")


def _check(used: int, most: int, what: str) -> None:
    if used >= most:
        raise ToolError(f"The limit of {what} is reached: {used} of {most}. Leave it for today.")


def _last_said(agent: Agent, *, now: datetime) -> datetime | None:
    """When the agent last wrote a reply, or sends it; not one that is retried much later."""
    newest = (
        replies_of([agent.slug]).order_by("-id").values_list("sent_at", "not_before", "made_at")
    )
    soon = now + agent.settings.spacing
    return max(
        (at for row in newest[:RECENT] if (at := row[0] or row[1] or row[2]) <= soon), default=None
    )


def _check_text(
    presence: Presence,
    account: Account,
    target: Message | None,
    content: str,
    title: str,
    community: str,
    also_named: Iterable[str],
) -> None:
    """The checks that a voice's words pass; a tool's have no parts.

    A community is checked as one: a model that names it may give something away.
    """
    agent, traits = presence.agent, account.surface.traits
    people = {account.handle, *also_named}
    if target is not None:
        authors = Message.objects.filter(post=target.post_id).values_list("author", flat=True)
        people |= set(filter(None, authors.distinct()[:MOST_PEOPLE]))
    posts = traits.post_limit or traits.text_limit
    most = posts if target is None else min(agent.settings.longest_reply, traits.text_limit)
    context = OutputContext(
        traits=traits, longest=most, is_post=target is None, people=frozenset(people),
        last_texts=tuple(last_texts(account.pk)), secrets=secrets_of(agent),
        private_texts=(agent.persona,) if agent.persona else (),
    )  # fmt: skip
    written = Reply(terms=content, pointer=content, exit=community, text=content, title=title)
    with translation.override("en"):
        found = list(dict.fromkeys(str(problem) for problem in find_problems(written, context)))
    if found:
        raise ToolError("It was not written. " + " ".join(found))
