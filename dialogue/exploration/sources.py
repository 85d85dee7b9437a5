"""Read the posts that an exploration may offer, and what is known of their threads.

Stored posts of the account come first; where the service has a feed, its newest posts are added.
The feed is read outside any transaction and within the rate limit of the account; where that fails,
the stored posts are what there is.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import httpx
from django.db.models import Max
from django.db.models.functions import Least, Lower

from dialogue.exploration.candidates import LONGEST as COMPARED
from dialogue.exploration.candidates import OLDEST, CandidateFacts, Interests, plain_community
from dialogue.models import Presence
from surfaces.accounts.clients import open_reader
from surfaces.accounts.services import stop_account
from surfaces.adapters.types import Item
from surfaces.drafts.models import DEAD
from surfaces.errors import AuthFailed, PaymentRequired, SurfaceError, Suspended
from surfaces.messages.models import Direction, MessageQuerySet, beginning
from surfaces.models import Account, Draft, Message
from surfaces.spam import classify
from surfaces.text.reasons import StoredReason
from surfaces.watcher.rounds import identify

Clock = Callable[[], datetime]
Transport = httpx.BaseTransport | None
MOST_STORED = 50  # newest stored posts that are considered
MOST_OF_FEED = 25  # newest posts of the feed
USUAL = 20  # latest posts of an account that say where it usually is
MOST_USUAL = 5  # communities of an account where its agent names none
LONGEST = 2_000  # characters of a post that the agent is shown


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundPost:
    """A post with its facts. `message` 0: it was looked at and is not stored."""

    facts: CandidateFacts
    message: int = 0
    item: Item | None = None
    link: str = ""


@dataclass(slots=True)
class Findings:
    posts: list[FoundPost] = field(default_factory=list)
    feed_why: StoredReason = field(default_factory=StoredReason)  # why the feed was not read


def interests_of(presence: Presence) -> Interests:
    """What its agent looks for, in the communities it names or else those of the account."""
    kept = presence.agent.settings
    return Interests(
        topics=tuple(kept.topics),
        keywords=tuple(kept.keywords),
        follows=tuple(kept.follows),
        communities=tuple(kept.communities or usual_communities(presence.account_id)),
        takes_questions=kept.explores_questions,
        takes_discussions=kept.explores_discussions,
        min_confidence=kept.min_confidence,
    )


def usual_communities(account_id: int) -> list[str]:
    """Communities in which the account posted lately, the usual ones first."""
    ours = Message.objects.stones().filter(account=account_id, submolt__gt="")
    latest = ours.order_by("-created_at", "-id").values_list("submolt", flat=True)[:USUAL]
    return [name for name, _ in Counter(filter(None, latest)).most_common(MOST_USUAL)]


def find(
    presence: Presence, interests: Interests, *, clock: Clock, transport: Transport = None
) -> Findings:
    """Stored and new posts, each once. Opens a connection; hold no transaction."""
    account, findings = presence.account, Findings()
    items = _read_feed(account, interests, findings, clock=clock, transport=transport)
    now = clock()
    fresh = {item.remote_id: item for item in reversed(items)}  # of one id twice, the first
    rows = _light(_newest(account, interests, now))[:MOST_STORED]
    stored = {row.remote_id: row for row in rows}
    missing = fresh.keys() - stored.keys()
    known = _light(Message.objects.posts().filter(account=account, remote_id__in=missing))
    stored |= {row.remote_id: row for row in known}
    threads = _Threads.of(presence, {*stored, *fresh}, {row.pk for row in stored.values()})
    found = [threads.of_row(row) for row in stored.values()]
    looked_at = (item for item in fresh.values() if item.remote_id not in stored)
    found += [threads.of_item(item) for item in looked_at]
    findings.posts = _judged(account, found, now)
    return findings


def facts_of(presence: Presence, post: Message, *, now: datetime) -> CandidateFacts:
    """One stored post as it is now."""
    row = _light(Message.objects.filter(pk=post.pk)).get()
    found = _Threads.of(presence, {row.remote_id}, {row.pk}).of_row(row)
    return _judged(presence.account, [found], now)[0].facts


def _judged(account: Account, found: Sequence[FoundPost], now: datetime) -> list[FoundPost]:
    """With the word of the spam filter, which judges only comments when they are stored."""
    texts = [(post.facts.author, f"{post.facts.title}\n{post.facts.text}") for post in found]
    world = classify.BatchFacts.of(account, texts, now)
    judged = []
    for post, (author, text) in zip(found, texts, strict=True):
        status = post.facts.spam_status or world.judge(author, text).status
        judged.append(replace(post, facts=replace(post.facts, spam_status=status)))
    return judged


def _newest(account: Account, interests: Interests, now: datetime) -> MessageQuerySet:
    """Recent posts by others, newest first. The window is that of `message_posts`."""
    recent = Message.objects.posts().filter(account=account, created_at__gte=now - OLDEST)
    rows = recent.incoming().alive().order_by("-created_at", "-id")
    if not interests.communities:
        return rows
    names = {plain_community(name) for name in interests.communities}
    spelled = names | {f"m/{name}" for name in names}
    return rows.alias(community=Lower("submolt")).filter(community__in=sorted(spelled))


def _light(rows: MessageQuerySet) -> MessageQuerySet:
    """Without the long columns; of the text only what is compared and shown."""
    rows = rows.select_related("account__surface").annotate(begin=beginning("content", COMPARED))
    return rows.defer("raw_json", "search", "content")


def _read_feed(
    account: Account,
    interests: Interests,
    findings: Findings,
    *,
    clock: Clock,
    transport: Transport,
) -> Sequence[Item]:
    """The newest posts there, or none and why."""
    if not account.surface.traits.has_feed:
        return ()
    try:
        with closing(open_reader(account, clock=clock, transport=transport)) as reader:
            identify(account, reader)
            names = [plain_community(name) for name in interests.communities]
            feed = reader.feed(names, MOST_OF_FEED)
    except SurfaceError as error:
        findings.feed_why = error.reason
        if isinstance(error, AuthFailed | Suspended | PaymentRequired):
            stop_account(account, error, now=clock())
        return ()
    return feed.posts[:MOST_OF_FEED]


@dataclass(slots=True)
class _Threads:
    """Who spoke in these threads. A constant number of queries, however many there are."""

    surface: int
    ours: set[str]  # ids and names, without case, of our accounts there
    answered: set[str]  # remote ids of posts that this agent spoke under
    drafting: Mapping[str, set[str]]  # others of ours with a draft there, by remote id
    voices: Mapping[int, list[dict[str, Any]]]  # authors of comments, by stored post

    @classmethod
    def of(cls, presence: Presence, names: Collection[str], posts: Collection[int]) -> "_Threads":
        surface, agent = presence.account.surface_id, presence.agent
        accounts = Account.objects.filter(surface=surface)
        pairs = accounts.values_list("pk", "remote_id", "handle")
        ours = {name.casefold() for _, *both in pairs for name in both if name}
        ids = [pk for pk, *_ in pairs]
        # A post may be stored once for each account that read it.
        roots = Message.objects.posts().filter(account__in=ids, remote_id__in=names)
        by_root = dict(roots.values_list("pk", "remote_id"))
        mine = set(Presence.objects.filter(agent=agent).values_list("account", flat=True))
        said = Message.objects.outgoing().comments().filter(post__in=by_root)
        pairs_said = said.order_by().values_list("post", "account").distinct()
        answered = {by_root[post] for post, account in pairs_said if account in mine}
        drafting: dict[str, set[str]] = defaultdict(set)
        drafts = Draft.objects.filter(target__post__in=by_root).order_by()
        wanted = ("target__post", "account", "agent", "state")
        for post, account, slug, state in drafts.values_list(*wanted).distinct():
            if slug == agent.slug or account in mine:
                answered.add(by_root[post])
            elif state not in DEAD:
                drafting[by_root[post]].add(slug or f"account:{account}")
        return cls(surface, ours, answered, drafting, _voices(posts))

    def of_row(self, row: Message) -> FoundPost:
        text = str(getattr(row, "begin", ""))
        return FoundPost(
            message=row.pk, link=row.link,
            facts=self._facts(
                row.remote_id, author=row.author, author_id=row.author_id,
                is_bot=row.author_is_bot, is_ours=row.is_ours, voices=self.voices.get(row.pk, []),
                title=row.title, text=text, community=row.submolt,
                created_at=row.created_at, seen_at=row.seen_at, spam_status=row.spam_status,
                is_deleted=row.deleted_at is not None,
            ),
        )  # fmt: skip

    def of_item(self, item: Item) -> FoundPost:
        return FoundPost(
            item=item, link=item.url,
            facts=self._facts(
                item.remote_id, author=item.author, author_id=item.author_id,
                is_bot=item.author_is_bot, is_ours=item.is_ours, voices=[],
                title=item.title, text=item.content[:COMPARED], community=item.community,
                created_at=item.created_at, seen_at=item.created_at,
            ),
        )  # fmt: skip

    def _facts(
        self,
        remote_id: str,
        *,
        author: str,
        author_id: str,
        is_bot: bool | None,
        is_ours: bool,
        created_at: datetime,
        seen_at: datetime,
        voices: Iterable[Mapping[str, Any]],
        **facts: Any,
    ) -> CandidateFacts:
        is_ours = is_ours or self._is_ours(author_id, author)
        agents, humans = set(self.drafting.get(remote_id, set())), []
        # A time that the service puts ahead of ours says only that we have read it.
        root = {
            "author": author, "author_id": author_id, "author_is_bot": is_bot,
            "direction": Direction.OUTGOING if is_ours else Direction.INCOMING,
            "last": min(created_at, seen_at),
        }  # fmt: skip
        for voice in (root, *voices):
            name = str(voice["author_id"] or voice["author"] or "")
            is_us = voice["direction"] == Direction.OUTGOING or self._is_ours(
                voice["author_id"], voice["author"]
            )
            if is_us or voice["author_is_bot"]:
                agents.add(name)
            else:
                humans.append(voice["last"])
        return CandidateFacts(
            remote_id=remote_id, author=author, created_at=created_at, is_ours=is_ours,
            is_answered=remote_id in self.answered, agents=len(agents),
            last_human_at=max(humans, default=None), **facts,
        )  # fmt: skip

    def _is_ours(self, author_id: str | None, author: str | None) -> bool:
        """By id, where the service gives one: names may be changed there."""
        return any(name and name.casefold() in self.ours for name in (author_id, author))


def _voices(posts: Collection[int]) -> dict[int, list[dict[str, Any]]]:
    """Each author of comments in these threads, with the last word. A word of the future was said
    when we read it.
    """
    said = Message.objects.comments().alive().filter(post__in=posts).order_by()
    who = said.values("post", "author", "author_id", "author_is_bot", "direction")
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for voice in who.annotate(last=Max(Least("created_at", "seen_at"))):
        found[voice["post"]].append(dict(voice))
    return found
