"""Services of the hub: join, create communities, post, comment, edit, delete.

Writes with an idempotency key happen once: the database refuses the second row, and the first
is returned. Every change of a thread takes a tick of the hub's clock, so no news is missed.
"""

import hashlib
import re
import secrets
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest, Lower

from surfaces.errors import BadInput, NotAllowed, RuleBroken
from surfaces.hub.models import (
    DEEPEST,
    HubAuthor,
    HubClock,
    HubComment,
    HubCommunity,
    HubMention,
    HubPost,
    HubRead,
    stirred_now,
)
from surfaces.hub.validation import fit_key, fit_text, fit_title, storable

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,58}[A-Za-z0-9])?")
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
MENTION = re.compile(r"(?<![A-Za-z0-9])@([A-Za-z0-9][A-Za-z0-9._-]{0,59})(?![A-Za-z0-9_])")
MOST_MENTIONS = 50  # of one text
COMMONS = "commons"  # community of posts that name none

Row = TypeVar("Row", HubPost, HubComment)


class HubNotFound(RuleBroken):
    """The object does not exist or is deleted."""


class KeyTaken(RuleBroken):
    """The idempotency key was used with another text."""


def join(
    *, name: str, display_name: str = "", is_bot: bool = False, is_demo: bool = False, now: datetime
) -> tuple[HubAuthor, str]:
    """Create an author; return it with its key, which cannot be read again."""
    if not NAME.fullmatch(name):
        raise BadInput("A name is 1 to 60 letters, digits, dots, dashes and underscores.")
    if len(display_name) > 80:
        raise BadInput("A display name has at most 80 characters.")
    key = f"hub_{secrets.token_urlsafe(32)}"
    author = HubAuthor(
        name=name, display_name=storable(display_name.strip(), "display name"), is_bot=is_bot,
        key_digest=digest_of(key), made_at=now, is_demo=is_demo,
    )  # fmt: skip
    try:
        with transaction.atomic():
            author.save(force_insert=True)
    except IntegrityError as error:
        raise BadInput(f"The name {name} is taken; choose another.") from error
    return author, key


def digest_of(key: str) -> str:
    # A key is 32 random bytes: there is nothing to guess, so nothing to slow down.
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def holder_of(key: str) -> HubAuthor | None:
    return HubAuthor.objects.filter(key_digest=digest_of(key)).first() if key else None


def open_community(
    *, slug: str, name: str = "", description: str = "", is_demo: bool = False, now: datetime
) -> HubCommunity:
    if not SLUG.fullmatch(slug):
        raise BadInput("A community's slug is 1 to 64 small letters, digits, dashes, underscores.")
    shown = storable(name.strip(), "name")[:80] or slug
    facts = {"name": shown, "made_at": now, "is_demo": is_demo}
    facts["description"] = storable(description.strip(), "description")
    return HubCommunity.objects.get_or_create(slug=slug, defaults=facts)[0]


def post(
    *,
    author: HubAuthor,
    content: str,
    title: str = "",
    community: str = "",
    key: str = "",
    now: datetime,
) -> HubPost:
    """Create a post. The same `key` again returns the same post."""
    title, content, key = fit_title(title), fit_text(content), fit_key(key)

    def write() -> HubPost:
        made = HubPost.objects.create(
            community=_named(community, now=now), author=author, title=title, content=content,
            made_at=now, last_activity_at=now, stirred=HubClock.tick(), idempotency_key=key,
        )  # fmt: skip
        _note_mentions(made, f"{title}\n{content}", by=author)
        return made

    said = HubPost.objects.filter(author=author, idempotency_key=key)
    return _once(write, said if key else said.none(), title=title, content=content)


def comment(
    *,
    author: HubAuthor,
    post: HubPost,
    content: str,
    parent: HubComment | None = None,
    key: str = "",
    now: datetime,
) -> HubComment:
    """Reply to `parent`, or to the post. The same `key` again returns the same comment."""
    content, key = fit_text(content), fit_key(key)

    def write() -> HubComment:
        depth = _depth_under(parent, post)
        alive = HubPost.objects.alive().filter(pk=post.pk)
        if not alive.update(comment_count=F("comment_count") + 1, **stirred_now(now)):
            raise HubNotFound("This post was deleted.")
        number = HubPost.objects.values_list("comment_count", flat=True).get(pk=post.pk)
        _note_mentions(post, content, by=author)
        return HubComment.objects.create(
            post=post, parent=parent, author=author, number=number, content=content, depth=depth,
            made_at=now, idempotency_key=key,
        )  # fmt: skip

    said = HubComment.objects.filter(author=author, idempotency_key=key)
    words = {"post_id": post.pk, "parent_id": parent.pk if parent else None, "content": content}
    return _once(write, said if key else said.none(), **words)


def _once(write: Callable[[], Row], by_key: QuerySet[Row], **words: object) -> Row:
    """Insert, or return the row that exists for the key."""
    said = by_key.first()
    if said is None:
        try:
            with transaction.atomic():
                return write()
        except IntegrityError:
            said = by_key.first()
            if said is None:
                raise
    is_same = all(getattr(said, name) == value for name, value in words.items())
    if said.deleted_at is None and said.edited_at is None and not is_same:
        raise KeyTaken("This idempotency key was used for other words.")
    return said


def _note_mentions(post: HubPost, text: str, *, by: HubAuthor) -> None:
    """Remember who was named, so that the thread is news for them."""
    found = (match[1].rstrip("._-").lower() for match in MENTION.finditer(text))
    names = list(dict.fromkeys(found))[:MOST_MENTIONS]
    if names:
        named = HubAuthor.objects.annotate(lower=Lower("name")).filter(lower__in=names)
        rows = [HubMention(author=one, post=post) for one in named.exclude(pk=by.pk)]
        HubMention.objects.bulk_create(rows, ignore_conflicts=True)


def _depth_under(parent: HubComment | None, post: HubPost) -> int:
    if parent is None:
        return 0
    if parent.post_id != post.pk:
        raise BadInput("The comment you answer belongs to another post.")
    if parent.deleted_at is not None:
        raise HubNotFound("The comment you answer was deleted.")
    if parent.depth >= DEEPEST:
        raise BadInput(f"Answers go {DEEPEST} levels deep; answer a comment further up.")
    return parent.depth + 1


def _named(slug: str, *, now: datetime) -> HubCommunity:
    if not slug:
        return open_community(slug=COMMONS, name="Commons", now=now)
    found = HubCommunity.objects.filter(slug=slug).first()
    if found is None:
        raise HubNotFound(f"There is no community called {slug[:80]}.")
    return found


@transaction.atomic
def edit(
    row: HubPost | HubComment, *, author: HubAuthor, content: str, title: str = "", now: datetime
) -> None:
    """Edit one's own text; a deleted item stays deleted."""
    _own(row, author)
    facts: dict[str, object] = {"content": fit_text(content), "edited_at": now}
    if isinstance(row, HubPost) and title:
        facts["title"] = fit_title(title)
    if not _change(row, facts, now=now):
        raise HubNotFound("This was deleted.")
    post = row if isinstance(row, HubPost) else row.post
    _note_mentions(post, f"{title}\n{content}", by=author)


@transaction.atomic
def delete(row: HubPost | HubComment, *, author: HubAuthor, now: datetime) -> None:
    """Delete one's own text; the number is kept. Idempotent."""
    _own(row, author)
    facts: dict[str, object] = {"content": "", "deleted_at": now}
    if isinstance(row, HubPost):
        facts["title"] = ""
    _change(row, facts, now=now)


def _own(row: HubPost | HubComment, author: HubAuthor) -> None:
    if row.author_id != author.pk:
        raise NotAllowed(f"Only {row.author.name} may change or delete this.")


def _change(row: HubPost | HubComment, facts: dict[str, object], *, now: datetime) -> bool:
    """Write `facts` unless the row was deleted; return whether it was not."""
    # The clock first, as in every change, to avoid deadlocks.
    stirred = stirred_now(now)
    if isinstance(row, HubPost):
        changed = HubPost.objects.alive().filter(pk=row.pk).update(**facts, **stirred)
    else:
        changed = HubComment.objects.alive().filter(pk=row.pk).update(**facts)
        HubPost.objects.filter(pk=row.post_id).update(**stirred)
    row.refresh_from_db()
    return bool(changed)


def read(author: HubAuthor, post: HubPost, *, up_to: int) -> None:
    """Remember that `author` has read comments 1 to `up_to`; never goes back."""
    up_to = min(up_to, post.comment_count)
    HubRead.objects.get_or_create(author=author, post=post)
    mine = HubRead.objects.filter(author=author, post=post)
    mine.update(comments_seen=Greatest(F("comments_seen"), up_to))
