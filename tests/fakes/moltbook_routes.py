"""What the fake Moltbook answers about agents and posts, in both dialects."""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.moltbook_comments import Comments
from tests.fakes.moltbook_door import Call, Crash, Stop, number, text
from tests.fakes.moltbook_faults import Reply
from tests.fakes.moltbook_live import Live
from tests.fakes.moltbook_world import Post, World, iso


class Routes(Comments, Live):
    """All of /api/v1."""

    def __init__(self, world: World, **settings: Any) -> None:
        super().__init__(world, **settings)
        self.table = [
            ("GET", r"/health", self._health, True),
            ("POST", r"/agents/register", self._register, True),
            ("GET", r"/agents/me", self._me, True),
            ("GET", r"/agents/status", self._status, True),
            ("GET", r"/agents/profile", self._profile, True),
            ("POST", r"/posts", self._create_post, True),
            ("GET", r"/posts", self._list_posts, True),
            ("GET", r"/posts/([^/]+)", self._get_post, True),
            ("DELETE", r"/posts/([^/]+)", self._delete_post, True),
            ("GET", r"/posts/([^/]+)/comments", self._list_comments, True),
            ("POST", r"/posts/([^/]+)/comments", self._create_comment, True),
            ("GET", r"/comments/([^/]+)", self._get_comment, True),
            ("DELETE", r"/comments/([^/]+)", self._delete_comment, True),
            ("GET", r"/home", self._home, False),
            ("GET", r"/notifications", self._notifications, False),
            ("POST", r"/notifications/read-all", self._read_all, False),
            ("POST", r"/verify", self._verify, False),
        ]

    def _health(self, call: Call, body: dict[str, Any]) -> Reply:
        stamp = iso(self.world.now())
        return Reply(200, {"success": True, "status": "healthy", "timestamp": stamp})

    def _register(self, call: Call, body: dict[str, Any]) -> Reply:
        name = body.get("name")
        if not isinstance(name, str) or not name:
            raise Stop(400, "Name is required")
        if not re.fullmatch(r"[A-Za-z0-9_]{2,32}", name):
            raise Stop(400, "Name can only contain letters, numbers, and underscores")
        if name.lower() in self.world.agents:
            raise Stop(409, "Name already taken", "Try a different name")
        agent = self.world.add_agent(name, claimed=False)
        made = {"api_key": agent.key, "claim_url": "http://x/claim", "verification_code": "salt-1"}
        if not self.is_open:
            made["name"] = agent.name
        body = {"success": True, "agent": made, "important": "Save your API key!"}
        return Reply(201, body)

    def _me(self, call: Call, body: dict[str, Any]) -> Reply:
        agent = self._agent
        status = "claimed" if agent.is_claimed else "pending_claim"
        known: dict[str, Any] = {"id": agent.id, "name": agent.name, "karma": 0, "status": status}
        if self.is_open:
            known |= {"displayName": agent.display_name, "isClaimed": agent.is_claimed}
            known |= {"description": agent.description, "createdAt": iso(agent.created_at)}
        else:
            known |= {"display_name": agent.display_name, "is_claimed": agent.is_claimed}
        return Reply(200, {"success": True, "agent": known})

    def _status(self, call: Call, body: dict[str, Any]) -> Reply:
        status = "claimed" if self._agent.is_claimed else "pending_claim"
        return Reply(200, {"success": True, "status": status})

    def _profile(self, call: Call, body: dict[str, Any]) -> Reply:
        agent = self.world.agents.get(call.query.get("name", "").lower())
        if agent is None:
            raise Stop(404, "Agent not found")
        own = [post for post in self._newest() if post.author is agent][:10]
        recent = [self._post(post, short=True) for post in own]
        for post in recent if self.is_open else ():
            for name in ("author_name", "author_display_name", "post_type"):
                post.pop(name)
        since = iso(agent.created_at)
        known = {"name": agent.name, "displayName": agent.display_name, "karma": 0}
        known |= {"description": agent.description, "isClaimed": agent.is_claimed}
        known |= {"followerCount": 0, "followingCount": 0, "createdAt": since, "lastActive": since}
        return Reply(
            200, {"success": True, "agent": known, "isFollowing": False, "recentPosts": recent}
        )

    def _newest(self) -> list[Post]:
        return [
            post
            for post in reversed(self.world.posts.values())
            if not (self.hide_pending and post.is_pending and post.author is not self._agent)
        ]

    def _post(self, post: Post, *, short: bool = False) -> dict[str, Any]:
        at = iso(post.created_at, self.world.dialect)
        known: dict[str, Any] = {
            "id": post.id,
            "title": post.title,
            "content": post.content,
            "url": post.url,
            "score": post.score,
            "comment_count": post.comment_count,
            "created_at": at,
        }
        if not self.is_open:
            author = {"id": post.author.id, "name": post.author.name}
            submolt = {"id": "s-1", "name": post.submolt, "display_name": post.submolt.title()}
            status = "pending" if post.is_pending else "verified"
            return known | {
                "author": author,
                "submolt": submolt,
                "type": "text",
                "comment_count": str(post.comment_count),
                "verification_status": status,
            }
        known |= {
            "submolt": post.submolt,
            "post_type": "text",
            "author_name": post.author.name,
            "author_display_name": post.author.display_name,
        }
        if not short:
            known |= {"author_id": post.author.id, "is_deleted": False, "updated_at": at}
            known |= {"submolt_id": "s-1", "upvotes": 0, "downvotes": 0, "userVote": None}
            known["is_pinned"] = False
        return known

    def _list_posts(self, call: Call, body: dict[str, Any]) -> Reply:
        limit = min(number(call.query.get("limit", "25")), 100)
        offset = number(call.query.get("offset", "0"))
        posts = self._newest()
        if submolt := call.query.get("submolt"):
            posts = [post for post in posts if post.submolt.lower() == submolt.lower()]
        if self.is_open:
            rows = [self._post(post, short=True) for post in posts[offset : offset + limit]]
            asked = number(call.query.get("limit", "25"))
            page = {"count": len(rows), "limit": asked, "offset": offset}
            page["hasMore"] = len(rows) == asked
            return Reply(200, {"success": True, "data": rows, "pagination": page})
        if author := call.query.get("author"):
            posts = [post for post in posts if post.author.name.lower() == author.lower()]
        offset = number(call.query.get("cursor", str(offset)))
        rows = [self._post(post) for post in posts[offset : offset + limit]]
        more = offset + limit < len(posts)
        said: dict[str, Any] = {"success": True, "posts": rows, "has_more": more}
        return Reply(200, said | ({"next_cursor": str(offset + limit)} if more else {}))

    def _get_post(self, call: Call, body: dict[str, Any], post_id: str) -> Reply:
        return Reply(200, {"success": True, "post": self._post(self._find_post(post_id))})

    def _delete_post(self, call: Call, body: dict[str, Any], post_id: str) -> Reply:
        post = self._find_post(post_id)
        if post.author is not self._agent:
            raise Stop(403, "You can only delete your own posts")
        self.world.delete_post(post)
        return Reply(204)

    def _create_post(self, call: Call, body: dict[str, Any]) -> Reply:
        if not self.is_open:
            self._refuse_unknown(
                body, {"submolt", "submolt_name", "title", "content", "url", "type"}
            )
        submolt = body.get("submolt") or (None if self.is_open else body.get("submolt_name"))
        if submolt is None and self.is_open:
            raise Crash("Cannot read properties of undefined (reading 'toLowerCase')")
        title, content = text(body.get("title"), "Title"), text(body.get("content"), "Content")
        if len(title) > 300 or len(content) > 40_000:
            raise Stop(400, "Title must be 300 characters or less")
        if submolt not in self.world.submolts:
            raise Stop(404, "Submolt not found")
        pending = self.challenges and not self.is_open
        post = self.world.add_post(self._agent, title, content, submolt, pending=pending)
        made = self._post(post, short=True)
        for name in ("author_name", "author_display_name", "author"):
            made.pop(name, None)
        return self._created("post", made, post)
