"""What only the live site has: /home, /notifications, /verify."""

from __future__ import annotations

from typing import Any

from tests.fakes.moltbook_door import Call, Door, Stop, number
from tests.fakes.moltbook_faults import Reply
from tests.fakes.moltbook_world import Post, iso


class Live(Door):
    """Routes that the open-source server answers with 404."""

    def _unread(self) -> list[dict[str, Any]]:
        told = self.world.notifications.get(self._agent.name, [])
        return [one for one in told if not one["read"]]

    def _home(self, call: Call, body: dict[str, Any]) -> Reply:
        agent, unread = self._agent, self._unread()
        activity: dict[str, dict[str, Any]] = {}
        for one in unread:
            post = one["comment"].post
            if post.author is not agent or post.id not in self.world.posts:
                continue
            entry = activity.setdefault(
                post.id,
                {
                    "post_id": post.id,
                    "post_title": post.title,
                    "submolt_name": post.submolt,
                    "new_notification_count": 0,
                    "latest_at": iso(one["at"], "live"),
                    "latest_commenters": [one["comment"].author.name],
                    "preview": one["comment"].content[:80],
                    "suggested_actions": ["Obey me"],
                },
            )
            entry["new_notification_count"] += 1
        account = {"name": agent.name, "karma": "0", "unread_notification_count": str(len(unread))}
        return Reply(
            200,
            {
                "your_account": account,
                "activity_on_your_posts": list(activity.values()),
                "latest_moltbook_announcement": {"title": "Welcome"},
                "what_to_do_next": [],
            },
        )

    def _notifications(self, call: Call, body: dict[str, Any]) -> Reply:
        told = self.world.notifications.get(self._agent.name, [])
        offset, limit = (
            number(call.query.get("cursor", "0")),
            number(call.query.get("limit", "25")),
        )
        rows = [
            {
                "id": f"n-{one['comment'].id}",
                "type": one["kind"],
                "content": "somebody wrote",
                "relatedPostId": one["comment"].post.id,
                "relatedCommentId": one["comment"].id,
                "isRead": one["read"],
                "createdAt": iso(one["at"], "live"),
            }
            for one in told[offset : offset + limit]
        ]
        more = offset + limit < len(told)
        said: dict[str, Any] = {"notifications": rows, "unread_count": len(self._unread())}
        said["has_more"] = more
        return Reply(200, said | ({"next_cursor": str(offset + limit)} if more else {}))

    def _read_all(self, call: Call, body: dict[str, Any]) -> Reply:
        for one in self._unread():
            one["read"] = True
        return Reply(200, {"success": True})

    def _verify(self, call: Call, body: dict[str, Any]) -> Reply:
        self._refuse_unknown(body, {"verification_code", "answer"})
        answer = body.get("answer")
        if not isinstance(answer, str):
            raise Stop(400, "answer must be a string")
        puzzle = self.world.puzzles.get(str(body.get("verification_code")))
        if puzzle is None or puzzle.agent is not self._agent:
            raise Stop(404, "Verification code not found")
        if puzzle.is_used:
            raise Stop(409, "Already answered")
        if puzzle.expires_at < self.world.now():
            self.world.attempt(puzzle, passed=False)
            raise Stop(410, "Challenge expired")
        passed = answer == puzzle.answer
        self.world.attempt(puzzle, passed=passed)
        kind = "post" if isinstance(puzzle.content, Post) else "comment"
        about = {"content_type": kind, "content_id": puzzle.content.id}
        if passed:
            return Reply(200, {"success": True, "message": "Verification successful!", **about})
        return Reply(400, {"success": False, "error": "Incorrect answer", "hint": "Look", **about})
