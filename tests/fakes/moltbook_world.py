"""What the fake Moltbook remembers: agents, posts, comments, and a ledger of all it stored."""

from __future__ import annotations

import secrets
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import RLock
from typing import Any

DEEPEST = 10
PUZZLE = "A] lO^bSt-Er S[wImS aT/ tW]eNn-Tyy mE^tE[rS aNd] SlO/wS bY^ fI[vE, nEw^ SpE[eD?"


@dataclass
class Agent:
    name: str  # as the dialect stores it
    display_name: str
    key: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    description: str = ""
    is_claimed: bool = True
    created_at: float = field(default_factory=time.time)
    suspended_until: float = 0.0
    attempts: list[bool] = field(default_factory=list)  # at challenges


@dataclass
class Post:
    id: str
    author: Agent
    title: str
    content: str
    submolt: str
    created_at: float
    comment_count: int = 0
    is_pending: bool = False
    url: str | None = None  # of a link post
    score: int = 0


@dataclass
class Comment:
    id: str
    post: Post
    author: Agent
    content: str
    parent: Comment | None
    depth: int
    created_at: float
    score: int = 0
    is_deleted: bool = False
    is_pending: bool = False
    replies: list[Comment] = field(default_factory=list)


@dataclass
class Puzzle:
    code: str
    agent: Agent
    content: Post | Comment
    expires_at: float
    answer: str = "15.00"
    is_used: bool = False


class World:
    """State behind a lock. `ledger` is only ever added to."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.lock = RLock()
        self.agents: dict[str, Agent] = {}
        self.keys: dict[str, Agent] = {}
        self.submolts = {"general"}
        self.posts: dict[str, Post] = {}
        self.comments: dict[str, Comment] = {}
        self.by_post: dict[str, list[Comment]] = {}
        self.notifications: dict[str, list[dict[str, Any]]] = {}
        self.puzzles: dict[str, Puzzle] = {}
        self.ledger: list[dict[str, Any]] = []
        self.ahead = 0.0  # seconds our clock was moved forward
        self._last = 0.0

    def now(self) -> float:
        return time.time() + self.ahead

    def _stamp(self) -> float:
        """A moment later than every one before, so that lists have one order."""
        self._last = max(self.now(), self._last + 1e-6)
        return self._last

    # ── growing ───────────────────────────────────────────────────────────

    def add_agent(self, name: str, *, claimed: bool = True) -> Agent:
        with self.lock:
            is_open = self.dialect == "open"
            digits = secrets.token_hex(32 if is_open else 16)
            key = f"moltbook_{digits}" if is_open else f"moltbook_sk_{digits}"
            agent = Agent(name.lower() if is_open else name, name, key, is_claimed=claimed)
            self.agents[name.lower()] = self.keys[key] = agent
            return agent

    def agent(self, name: str) -> Agent:
        with self.lock:
            return self.agents.get(name.lower()) or self.add_agent(name)

    def add_post(
        self, author: Agent, title: str, content: str, submolt: str, *, pending: bool = False
    ) -> Post:
        with self.lock:
            post = Post(
                str(uuid.uuid4()), author, title.strip(), content.strip(), submolt, self._stamp()
            )
            post.is_pending = pending
            self.posts[post.id] = post
            self.by_post[post.id] = []
            self._enter("post", post.id, author, content, title=title, post_id=post.id)
            return post

    def add_comment(
        self,
        post: Post,
        author: Agent,
        content: str,
        parent: Comment | None,
        *,
        pending: bool = False,
    ) -> Comment:
        with self.lock:
            depth = parent.depth + 1 if parent else 0
            comment = Comment(
                str(uuid.uuid4()), post, author, content.strip(), parent, depth, self._stamp()
            )
            comment.is_pending = pending
            self.comments[comment.id] = comment
            self.by_post[post.id].append(comment)
            if parent:
                parent.replies.append(comment)
            post.comment_count += 1
            self._enter(
                "comment",
                comment.id,
                author,
                content,
                post_id=post.id,
                parent_id=parent.id if parent else None,
            )
            self._notify(comment)
            return comment

    def _enter(self, kind: str, remote_id: str, author: Agent, text: str, **more: Any) -> None:
        self.ledger.append(
            {
                "event": "stored",
                "kind": kind,
                "id": remote_id,
                "at": self._last,
                "author": author.name,
                "text": text.strip(),
                "parent_id": None,
                **more,
            }
        )

    def _notify(self, comment: Comment) -> None:
        told = {comment.author.name}
        kinds = [("comment_reply", comment.parent.author)] if comment.parent else []
        kinds.append(("post_comment", comment.post.author))
        kinds += [
            ("mention", agent)
            for name, agent in self.agents.items()
            if f"@{name}" in comment.content.lower()
        ]
        for kind, agent in kinds:
            if agent.name not in told:
                told.add(agent.name)
                self.notifications.setdefault(agent.name, []).insert(
                    0, {"kind": kind, "comment": comment, "at": comment.created_at, "read": False}
                )

    # ── shrinking ─────────────────────────────────────────────────────────

    def delete_comment(self, comment: Comment) -> None:
        """The words go, the place and the count stay."""
        with self.lock:
            comment.content, comment.is_deleted = "[deleted]", True
            self._gone("comment", comment.id, comment.author)

    def delete_post(self, post: Post) -> None:
        with self.lock:
            del self.posts[post.id]
            for comment in self.by_post.pop(post.id):
                del self.comments[comment.id]
            self._gone("post", post.id, post.author)

    def _gone(self, kind: str, remote_id: str, author: Agent) -> None:
        self.ledger.append(
            {
                "event": "deleted",
                "kind": kind,
                "id": remote_id,
                "at": self.now(),
                "author": author.name,
            }
        )

    # ── challenges ────────────────────────────────────────────────────────

    def set_puzzle(self, agent: Agent, content: Post | Comment, seconds: float) -> Puzzle:
        with self.lock:
            code = f"moltbook_verify_{secrets.token_hex(16)}"
            puzzle = Puzzle(code, agent, content, self.now() + seconds)
            self.puzzles[code] = puzzle
            return puzzle

    def attempt(self, puzzle: Puzzle, *, passed: bool) -> None:
        with self.lock:
            puzzle.is_used = True
            puzzle.agent.attempts.append(passed)
            if passed:
                puzzle.content.is_pending = False

    def count_unanswered(self, agent: Agent) -> None:
        """An unanswered puzzle is a failed one. Ten failures in a row suspend for a day."""
        with self.lock:
            for puzzle in self.puzzles.values():
                if puzzle.agent is agent and not puzzle.is_used and puzzle.expires_at < self.now():
                    self.attempt(puzzle, passed=False)
            last = agent.attempts[-10:]
            if len(last) == 10 and not any(last):
                agent.suspended_until = max(agent.suspended_until, self.now() + 86400)

    # ── for tests ─────────────────────────────────────────────────────────

    def stored(self, **wanted: Any) -> list[dict[str, Any]]:
        with self.lock:
            return [
                dict(line)
                for line in self.ledger
                if line["event"] == "stored"
                and all(line.get(name) == value for name, value in wanted.items())
            ]

    def duplicates(self, author: str) -> list[dict[str, Any]]:
        """What `author` said more than once under the same parent: (post, parent, times)."""
        lines = self.stored(kind="comment", author=self.agent(author).name)
        counted = Counter((line["post_id"], line["parent_id"]) for line in lines)
        return [
            {"post_id": post_id, "parent_id": parent_id, "times": times}
            for (post_id, parent_id), times in counted.items()
            if times > 1
        ]


def iso(moment: float, dialect: str = "open") -> str:
    """Open: milliseconds and Z. Live: microseconds and +00:00."""
    exact = datetime.fromtimestamp(moment, UTC)
    if dialect == "open":
        return exact.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return exact.isoformat(timespec="microseconds")
