"""Write to Moltbook: replies, posts, answers to its puzzles, and taking things back.

Nothing is ever sent twice from here. Whatever may have been stored raises
`Unconfirmed`, and somebody looks before it is said again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from surfaces.adapters.base import Access, Challenge, Kind, Sent, Verified, Writer
from surfaces.adapters.moltbook import words
from surfaces.adapters.moltbook.calls import COMMENT, POST, TRAITS, VERIFY, WRITE, Line, at, page_of
from surfaces.adapters.moltbook.challenge import solve
from surfaces.adapters.moltbook.counting import Unsolvable
from surfaces.adapters.moltbook.failures import classify, is_missing_endpoint
from surfaces.adapters.parsing import UNSTORABLE
from surfaces.errors import Refused, Unconfirmed
from surfaces.http import Answer

# A live body with an unknown field is refused; the open-source server wants `submolt`
# and answers 500 without it, so no one body suits both.
COMMUNITY = {"open": "submolt", "live": "submolt_name"}


class MoltbookWriter(Writer):
    """The speaking half of Moltbook."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._line = Line(access)

    def close(self) -> None:
        self._line.close()

    def reply(self, *, post_id: str, parent_id: str | None, text: str, key: str) -> Sent:
        """Open-source server, comments route: POST /posts/:id/comments."""
        _check("text", text, most=TRAITS.text_limit)
        body = {"content": text}
        if parent_id is not None:
            body["parent_id"] = parent_id
        sent = self._create(at("/posts/{}/comments", post_id), "comment", COMMENT, body)
        return replace(sent, url=page_of(self._line.base_url, post_id))

    def create_post(self, *, title: str, text: str, community: str, key: str) -> Sent:
        """Open-source server, posts route: POST /posts; live, with its own field name."""
        _check("title", title, most=TRAITS.title_limit)
        _check("text", text, most=TRAITS.post_limit or TRAITS.text_limit)
        body = {COMMUNITY[self._line.dialect]: community, "title": title, "content": text}
        sent = self._create("/posts", "post", POST, body)
        return replace(sent, url=page_of(self._line.base_url, sent.remote_id))

    def answer_challenge(self, challenge: Challenge) -> Verified:
        """Moltbook skill.md 1.12.0, AI verification: POST /verify, two decimals, as text."""
        try:
            solved = solve(challenge.text)
        except Unsolvable as error:
            raise Refused(f"the puzzle cannot be solved: {error}") from error
        answer = self._line.call(
            "POST",
            "/verify",
            VERIFY,
            body={"verification_code": challenge.code, "answer": solved.answer},
            accept=frozenset({400, 404, 409, 410, 422}),
        )
        return self._verdict(answer)

    def delete(self, *, kind: Kind, remote_id: str) -> None:
        """Open-source server: DELETE /posts/:id for ever, DELETE /comments/:id leaves a stub."""
        path = at("/posts/{}" if kind is Kind.POST else "/comments/{}", remote_id)
        answer = self._line.call("DELETE", path, WRITE, accept=frozenset({404}))
        if answer.status == 404 and _is_elsewhere(answer):
            raise classify(answer, wrote=True, now=self.access.clock())

    def _create(self, path: str, name: str, buckets: tuple[str, ...], body: dict[str, Any]) -> Sent:
        answer = self._line.call("POST", path, buckets, body=body)
        sent = words.sent(answer.data, name, now=self.access.clock())
        if sent is None:
            raise Unconfirmed(f"the answer does not name the {name} it made")
        return sent

    def _verdict(self, answer: Answer) -> Verified:
        data = answer.data if isinstance(answer.data, dict) else {}
        if answer.status == 409:
            return Verified.USED
        if answer.status == 410 or (answer.status == 404 and not _is_elsewhere(answer)):
            return Verified.EXPIRED  # a code it does not know (any more) can only be over
        if answer.is_success and data.get("success") is True:
            return Verified.YES
        # A wrong answer carries success false; a form it did not understand, statusCode.
        if data.get("success") is False and answer.status in (200, 400, 422):
            return Verified.WRONG
        if answer.is_success:
            raise Unconfirmed("the service did not say whether the answer was right")
        raise classify(answer, wrote=True, now=self.access.clock())


def _is_elsewhere(answer: Answer) -> bool:
    """A 404 about the path or from somebody in between, not about our content."""
    return is_missing_endpoint(answer) or not answer.is_json


def _check(what: str, text: str, *, most: int) -> None:
    """Refuse here what the service would refuse: there it costs budget all the same."""
    if not words.trimmed(text):
        raise Refused(f"the {what} is empty")
    if TRAITS.length(text) > most:
        raise Refused(f"the {what} is longer than {most} characters")
    if UNSTORABLE.search(text):
        raise Refused(f"the {what} holds characters that Moltbook cannot store")
