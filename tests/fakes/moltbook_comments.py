"""What the fake Moltbook answers about comments: cut threads, depth, soft deletes."""

from __future__ import annotations

from typing import Any

from tests.fakes.moltbook_door import UUID, Call, Crash, Door, Stop, number, text
from tests.fakes.moltbook_faults import Reply
from tests.fakes.moltbook_world import DEEPEST, PUZZLE, Comment, Post, iso


class Comments(Door):
    """Routes about comments, and what creating posts shares with them."""

    def _find_post(self, post_id: str) -> Post:
        if not UUID.fullmatch(post_id):
            raise Crash(f'invalid input syntax for type uuid: "{post_id}"')
        if post_id not in self.world.posts:
            raise Stop(404, "Post not found")
        return self.world.posts[post_id]

    def _comment(self, comment: Comment) -> dict[str, Any]:
        known: dict[str, Any] = {
            "id": comment.id,
            "content": comment.content,
            "score": comment.score,
            "upvotes": comment.score,
            "downvotes": 0,
            "parent_id": comment.parent.id if comment.parent else None,
            "depth": comment.depth,
            "created_at": iso(comment.created_at, self.world.dialect),
        }
        if self.is_open:
            author = comment.author
            return known | {"author_name": author.name, "author_display_name": author.display_name}
        author_object = {"id": comment.author.id, "name": comment.author.name}
        status = "pending" if comment.is_pending else "verified"
        known |= {"author": author_object, "upvotes": str(comment.score)}
        return known | {"verification_status": status}

    def _list_comments(self, call: Call, body: dict[str, Any], post_id: str) -> Reply:
        if self.is_open:
            return self._list_open(call, post_id)
        post = self._find_post(post_id)
        visible = [comment for comment in self.world.by_post[post.id] if self._shows(comment)]
        roots = [comment for comment in visible if comment.parent is None]
        if call.query.get("sort", "best") != "old":
            roots.reverse()
        limit = max(1, min(number(call.query.get("limit", "35")), 100))
        offset = number(call.query.get("cursor", "0"))
        more = offset + limit < len(roots)
        tree = self._tree(visible)
        page = [tree[comment.id] for comment in roots[offset : offset + limit]]
        said: dict[str, Any] = {"success": True, "comments": page, "has_more": more}
        return Reply(200, said | ({"next_cursor": str(offset + limit)} if more else {}))

    def _list_open(self, call: Call, post_id: str) -> Reply:
        """One flat LIMIT over all comments, ordered by depth first."""
        if not UUID.fullmatch(post_id):
            raise Crash(f'invalid input syntax for type uuid: "{post_id}"')
        limit = min(number(call.query.get("limit", "100")), 500)
        newest = call.query.get("sort", "top") == "new"
        rows = sorted(
            self.world.by_post.get(post_id, []),
            key=lambda c: (
                (c.depth, 0, -c.created_at) if newest else (c.depth, -c.score, c.created_at)
            ),
        )[:limit]
        tree = self._tree(rows)
        return Reply(
            200, {"success": True, "comments": [tree[c.id] for c in rows if c.parent is None]}
        )

    def _tree(self, comments: list[Comment]) -> dict[str, dict[str, Any]]:
        nodes = {comment.id: self._comment(comment) | {"replies": []} for comment in comments}
        for comment in comments:
            if comment.parent and comment.parent.id in nodes:
                nodes[comment.parent.id]["replies"].append(nodes[comment.id])
        return nodes

    def _shows(self, comment: Comment) -> bool:
        hidden = self.hide_pending and comment.is_pending and comment.author is not self._agent
        return not hidden

    def _find_comment(self, comment_id: str, what: str = "Comment") -> Comment:
        if not UUID.fullmatch(comment_id):
            raise Crash(f'invalid input syntax for type uuid: "{comment_id}"')
        if comment_id not in self.world.comments:
            raise Stop(404, f"{what} not found")
        return self.world.comments[comment_id]

    def _get_comment(self, call: Call, body: dict[str, Any], comment_id: str) -> Reply:
        comment = self._find_comment(comment_id)
        known = self._comment(comment) | {
            "post_id": comment.post.id,
            "author_id": comment.author.id,
        }
        return Reply(
            200,
            {
                "success": True,
                "comment": known
                | {"is_deleted": comment.is_deleted, "updated_at": known["created_at"]},
            },
        )

    def _delete_comment(self, call: Call, body: dict[str, Any], comment_id: str) -> Reply:
        comment = self._find_comment(comment_id)
        if comment.author is not self._agent:
            raise Stop(403, "You can only delete your own comments")
        self.world.delete_comment(comment)
        return Reply(204)

    def _create_comment(self, call: Call, body: dict[str, Any], post_id: str) -> Reply:
        if not self.is_open:
            self._refuse_unknown(body, {"content", "parent_id"})
        content = text(body.get("content"), "Content")
        if len(content) > 10_000:
            raise Stop(400, "Content must be 10000 characters or less")
        post = self._find_post(post_id)
        parent_id = body.get("parent_id")
        parent = self._find_comment(str(parent_id), "Parent comment") if parent_id else None
        if parent and parent.post is not post:
            raise Stop(404, "Parent comment not found")
        if parent and parent.depth >= DEEPEST:
            raise Stop(400, "Maximum comment depth exceeded")
        pending = self.challenges and not self.is_open
        comment = self.world.add_comment(post, self._agent, content, parent, pending=pending)
        made = self._comment(comment)
        kept = ("id", "content", "score", "depth", "created_at", "verification_status")
        return self._created("comment", {k: made[k] for k in kept if k in made}, comment)

    def _created(self, name: str, made: dict[str, Any], content: Post | Comment) -> Reply:
        if content.is_pending:
            puzzle = self.world.set_puzzle(self._agent, content, self.challenge_seconds)
            made["verification"] = {
                "verification_code": puzzle.code,
                "challenge_text": PUZZLE,
                "expires_at": iso(puzzle.expires_at, "live").replace("T", " ")[:-3],
                "instructions": "Respond with ONLY the number, two decimals.",
            }
        return Reply(201, {"success": True, name: made})
