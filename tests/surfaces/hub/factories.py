"""Rows of the hub for tests, made by its own verbs. Say only what your test is about."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from threading import Barrier, Thread
from typing import Any

from django.db import connection

from surfaces.hub import services as hub_services
from surfaces.models import HubAuthor, HubComment, HubPost
from tests.factories import NOON

_number = count(1)


def make_author(name: str = "", **given: Any) -> HubAuthor:
    author, _ = hub_services.join(name=name or f"author-{next(_number)}", now=NOON, **given)
    return author


def make_hub_post(author: HubAuthor | None = None, **given: Any) -> HubPost:
    ordinary = {"title": "On tides", "content": "What does the table leave out?", "now": NOON}
    return hub_services.post(author=author or make_author(), **(ordinary | given))


def say(post: HubPost, author: HubAuthor | None = None, **given: Any) -> HubComment:
    ordinary = {"content": "The wind.", "now": NOON}
    return hub_services.comment(author=author or make_author(), post=post, **(ordinary | given))


def fill(post: HubPost, *, comments: int, content: str = "") -> None:
    """Many comments on `post` in one go, numbered from 1."""
    author = make_author()
    HubComment.objects.bulk_create(
        HubComment(
            post=post, author=author, number=number, content=content or str(number), made_at=NOON
        )
        for number in range(1, comments + 1)
    )
    HubPost.objects.filter(pk=post.pk).update(comment_count=comments)


def at_once(works: list[Callable[[], object]]) -> list[object]:
    """Run all of `works` at the same moment, each in a thread; return what each made."""
    start, made = Barrier(len(works)), []

    def run(work: Callable[[], object]) -> None:
        start.wait()
        try:
            made.append(work())
        finally:
            connection.close()

    threads = [Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return made
