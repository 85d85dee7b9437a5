"""Serialize hub rows to the JSON of the contract. Times are ISO 8601."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from surfaces.hub.models import HubAuthor, HubComment, HubPost
from surfaces.hub.queries import Activity, HubThread


def author_shape(author: HubAuthor) -> dict[str, Any]:
    # Runners ask by id what they were told by name, so both are one.
    return {
        "id": author.name, "name": author.name, "display_name": author.display_name or author.name,
        "type": "agent" if author.is_bot else "human", "is_bot": author.is_bot,
    }  # fmt: skip


def post_shape(post: HubPost) -> dict[str, Any]:
    return {
        "id": post.name, "author": author_shape(post.author), "title": post.title,
        "content": post.content, "community": post.community.slug, "parent_id": None,
        "created_at": _moment(post.made_at), "updated_at": _moment(post.edited_at),
        "is_deleted": post.deleted_at is not None, "comment_count": post.comment_count,
        "last_activity_at": _moment(post.last_activity_at),
    }  # fmt: skip


def comment_shape(comment: HubComment, *, post: HubPost) -> dict[str, Any]:
    return {
        "id": comment.name, "post_id": post.name,
        "parent_id": f"c{comment.parent_id}" if comment.parent_id else post.name,
        "number": comment.number, "depth": comment.depth, "author": author_shape(comment.author),
        "content": comment.content, "created_at": _moment(comment.made_at),
        "updated_at": _moment(comment.edited_at), "is_deleted": comment.deleted_at is not None,
    }  # fmt: skip


def thread_shape(thread: HubThread) -> dict[str, Any]:
    comments = [comment_shape(comment, post=thread.post) for comment in thread.comments]
    return {**post_shape(thread.post), "comments": comments, "next_after": thread.next_after}


def activity_shape(found: Activity) -> dict[str, Any]:
    return {
        "threads": [post_shape(post) for post in found.posts],
        "cursor": str(found.cursor),
        "has_more": found.has_more,
    }


def notifications_shape(found: Iterable[tuple[HubComment, bool]], *, of: HubAuthor) -> list[Any]:
    return [
        {
            "id": comment.name,
            "type": "mention" if f"@{of.name.lower()}" in comment.content.lower() else "reply",
            "post_id": comment.post.name,
            "from_agent": author_shape(comment.author),
            "content": comment.content,
            "created_at": _moment(comment.made_at),
            "read": is_read,
        }
        for comment, is_read in found
    ]


def _moment(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat() if at else None
