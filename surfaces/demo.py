"""Create a small demo community in the hub, and remove it.

The demo's authors are marked (`is_demo`), and what they wrote belongs to the demo. Its accounts
are those with such an identity. Nothing else is changed: if other authors took part, removing
is refused and names them.
"""

import tomllib
from collections.abc import Iterator
from datetime import datetime, timedelta
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _lazy

from surfaces import crypto
from surfaces.accounts.models.account import Account, AccountState, ReplyMode
from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditEvent
from surfaces.drafts.models import Draft
from surfaces.errors import NotAllowed
from surfaces.hub import services as hub_services
from surfaces.hub.models import HubAuthor, HubComment, HubCommunity, HubPost, HubRead
from surfaces.messages.models import Message

ACTOR = "demo"
OURS = ("gabriel", "iris")  # its authors with accounts of ours
SURFACE = "hub-demo"
KIND = "hub"
TALK = Path(__file__).with_name("demo.toml")
OPENED = timedelta(days=3)  # before now: older than every message
FIRST_ROUND_LATEST = timedelta(seconds=30)  # the command reads before any watcher does


Utterance = tuple[datetime, int, int, dict[str, Any]]  # when, thread, place in it (0: post), what


def talk() -> dict[str, Any]:
    return tomllib.loads(TALK.read_text("utf-8"))


def accounts() -> QuerySet[Account]:
    """Accounts of the demo."""
    return Account.objects.filter(is_demo=True)


def is_made() -> bool:
    return HubAuthor.objects.filter(is_demo=True).exists()


@transaction.atomic
def make(*, now: datetime) -> list[Account]:
    """Create the community and our accounts in it, in one transaction."""
    found = ""
    if account := Account.objects.exclude(pk__in=accounts().values("pk")).first():
        found = f"the account {account.name}"
    elif author := HubAuthor.objects.filter(is_demo=False).first():
        found = f"{author.name} in the hub"
    if found:
        message = _lazy("This database is in use (%(found)s); a demo belongs into an empty one.")
        raise NotAllowed(message, found=found)
    told = talk()
    for room in told["community"]:
        hub_services.open_community(**room, is_demo=True, now=now - OPENED)
    keys: dict[str, str] = {}
    authors: dict[str, HubAuthor] = {}
    for person in told["author"]:
        author, key = hub_services.join(**person, is_demo=True, now=now - OPENED)
        authors[author.name], keys[author.name] = author, key
    _speak(told["post"], authors, now=now)
    return [_account(name, keys[name], now=now) for name in OURS]


def _speak(posts: list[dict[str, Any]], authors: dict[str, HubAuthor], *, now: datetime) -> None:
    """Write all messages in order of time."""
    threads: dict[int, HubPost] = {}
    comments: dict[tuple[int, int], HubComment] = {}
    for at, thread, place, said in sorted(_utterances(posts, now=now), key=itemgetter(0)):
        by = authors[said.get("by") or said["author"]]
        if place == 0:
            words = {name: said[name] for name in ("title", "content", "community")}
            threads[thread] = hub_services.post(author=by, **words, now=at)
        else:
            parent = comments[thread, said["to"]] if "to" in said else None
            comments[thread, place] = hub_services.comment(
                author=by, post=threads[thread], parent=parent, content=said.get("text", ""), now=at
            )


def _utterances(posts: list[dict[str, Any]], *, now: datetime) -> Iterator[Utterance]:
    rng = Random(7)  # noqa: S311 - the same seconds in every demo
    for thread, post in enumerate(posts):
        for place, said in enumerate([post, *post.get("comment", [])]):
            at = now - timedelta(minutes=said["ago"], seconds=rng.randrange(60))
            yield at, thread, place, said


def _account(name: str, key: str, *, now: datetime) -> Account:
    surface, _ = Surface.objects.get_or_create(
        kind=KIND, base_url="", defaults={"slug": SURFACE, "name": "Demo hub"}
    )
    account = Account(
        surface=surface,
        name=f"{name}@{surface.slug}",
        handle=name,
        remote_id=name,
        mode=ReplyMode.REVIEW,
        is_demo=True,
        every=1,
        next_watch_at=now + FIRST_ROUND_LATEST,
        state=AccountState.OK,
        state_since=now,
    )
    account.sealed_credential = crypto.encrypt(key)
    account.save(force_insert=True)
    AuditEvent.objects.record("demo.made", actor=ACTOR, subject=account)
    return account


@transaction.atomic
def clear() -> None:
    """Remove the demo, or nothing. Audit entries are kept."""
    _refuse_company()
    ours = list(accounts().select_for_update(of=("self",)))
    Draft.objects.filter(account__in=ours).delete()
    Message.objects.filter(account__in=ours).delete()
    for account in ours:
        AuditEvent.objects.record("demo.cleared", actor=ACTOR, subject=account)
        account.delete()
    Surface.objects.filter(slug=SURFACE, accounts=None).delete()
    _clear_hub()


def _refuse_company() -> None:
    """Refuse, if other authors wrote in the demo's threads."""
    theirs = HubComment.objects.alive().filter(author__is_demo=False)
    of_demo = Q(post__author__is_demo=True) | Q(parent__author__is_demo=True)
    comment = theirs.filter(of_demo | Q(post__community__is_demo=True)).first()
    post = HubPost.objects.alive().filter(author__is_demo=False, community__is_demo=True).first()
    if found := comment or post:
        message = _lazy(
            "%(name)s, who is not of the demo, wrote %(name2)s in its threads; delete that "
            "first, or keep the demo."
        )
        raise NotAllowed(message, name=found.author.name, name2=found.name)


def _clear_hub() -> None:
    theirs = Q(author__is_demo=True)
    guests = HubPost.objects.filter(comments__author__is_demo=True, author__is_demo=False)
    visited = list(guests.distinct())
    HubPost.objects.filter(theirs | Q(community__is_demo=True)).delete()
    HubComment.objects.filter(theirs).delete()
    HubAuthor.objects.filter(is_demo=True).delete()
    HubCommunity.objects.filter(is_demo=True).delete()
    for post in visited:  # renumber the remaining comments, so that the count is right
        left = list(HubComment.objects.filter(post=post).order_by("number"))
        for number, comment in enumerate(left, start=1):
            HubComment.objects.filter(pk=comment.pk).update(number=number)
        count = len(left)
        HubPost.objects.filter(pk=post.pk).update(comment_count=count)
        HubRead.objects.filter(post=post, comments_seen__gt=count).update(comments_seen=count)
