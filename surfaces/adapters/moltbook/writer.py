"""Write to Moltbook: replies, posts, answers to challenges, deletions.

Nothing is sent twice. If a request may have been stored, it raises `Unconfirmed`, and the
service is read before a retry.
"""

from dataclasses import replace
from typing import Any

from surfaces.adapters.base import Writer
from surfaces.adapters.moltbook import client, parse
from surfaces.adapters.moltbook.challenge.numbers import Unsolvable
from surfaces.adapters.moltbook.challenge.solver import solve
from surfaces.adapters.moltbook.client import TRAITS, MoltbookAdapter, page_of
from surfaces.adapters.moltbook.errors import classify, is_missing_endpoint
from surfaces.adapters.parsing import UNSTORABLE
from surfaces.adapters.types import Challenge, ItemKind, SentItem, Verified
from surfaces.errors import Refused, Unconfirmed
from surfaces.net.json_client import JsonResponse, at
from surfaces.text.reasons import reason, reason_of

# A live body with an unknown field is refused; the open-source server wants `submolt`
# and answers 500 without it, so no one body suits both.
COMMUNITY = {"open": "submolt", "live": "submolt_name"}


class MoltbookWriter(MoltbookAdapter, Writer):
    def reply(self, *, post_id: str, parent_id: str | None, text: str, key: str) -> SentItem:
        """Open-source server, comments route: POST /posts/:id/comments."""
        _check("text", text, most=TRAITS.text_limit)
        body = {"content": text}
        if parent_id is not None:
            body["parent_id"] = parent_id
        sent = self._create(
            at("/posts/{}/comments", post_id), "comment", client.COMMENT[self._line.dialect], body
        )
        return replace(sent, url=page_of(self._line.base_url, post_id))

    def create_post(self, *, title: str, text: str, community: str, key: str) -> SentItem:
        """Open-source server, posts route: POST /posts; live, with its own field name."""
        _check("title", title, most=TRAITS.title_limit)
        _check("text", text, most=TRAITS.post_limit or TRAITS.text_limit)
        body = {COMMUNITY[self._line.dialect]: community, "title": title, "content": text}
        sent = self._create("/posts", "post", client.POST, body)
        return replace(sent, url=page_of(self._line.base_url, sent.remote_id))

    def answer_challenge(self, challenge: Challenge) -> Verified:
        """Moltbook skill.md 1.12.0, AI verification: POST /verify, two decimals, as text."""
        try:
            body = {"verification_code": challenge.code, "answer": solve(challenge.text)}
        except Unsolvable as error:
            raise Refused(reason("moltbook.puzzle_unsolved", error=reason_of(error))) from error
        answer = self._line.call(
            "POST", "/verify", client.VERIFY, body=body, accept=frozenset({400, 404, 409, 410, 422})
        )
        data = answer.data if isinstance(answer.data, dict) else {}
        if answer.status == 409:
            return Verified.USED
        if answer.status == 410 or (answer.status == 404 and not _is_elsewhere(answer)):
            return Verified.EXPIRED  # an unknown code has expired
        if answer.is_success and data.get("success") is True:
            return Verified.YES
        # A wrong answer carries success false; a form it did not understand, statusCode.
        if data.get("success") is False and answer.status in (200, 400, 422):
            return Verified.WRONG
        if answer.is_success:
            raise Unconfirmed("moltbook.verdict_missing")
        raise classify(answer, wrote=True, now=self.access.clock())

    def delete(self, *, kind: ItemKind, remote_id: str) -> None:
        """Open-source server: DELETE /posts/:id for ever, DELETE /comments/:id leaves a stub."""
        path = at("/posts/{}" if kind is ItemKind.POST else "/comments/{}", remote_id)
        answer = self._line.call("DELETE", path, client.WRITE, accept=frozenset({404}))
        if answer.status == 404 and _is_elsewhere(answer):
            raise classify(answer, wrote=True, now=self.access.clock())
        _check_says_done(answer)

    def _create(
        self, path: str, name: str, buckets: tuple[str, ...], body: dict[str, Any]
    ) -> SentItem:
        answer = self._line.call("POST", path, buckets, body=body)
        _check_says_done(answer)
        sent = parse.sent(answer.data, name, now=self.access.clock())
        if sent is None:
            raise Unconfirmed(reason("moltbook.no_id_given", name=reason(f"part.{name}")))
        if sent.challenge is None and parse.is_pending(sent.raw):
            raise Unconfirmed("moltbook.challenge_missing")
        return sent


def _is_elsewhere(answer: JsonResponse) -> bool:
    """Whether a 404 is about the path or from a proxy, not about our content."""
    return is_missing_endpoint(answer) or not answer.is_json


def _check_says_done(answer: JsonResponse) -> None:
    """Doubt a success whose body says it is none."""
    says_no = isinstance(answer.data, dict) and answer.data.get("success") is False
    if answer.is_success and says_no:
        raise Unconfirmed("moltbook.answer_contradicts")


def _check(what: str, text: str, *, most: int) -> None:
    """Refuse what the service would refuse, because refused requests count in its limits."""
    if not parse.trimmed(text):
        raise Refused(reason("text.empty_part", what=reason(f"part.{what}")))
    if TRAITS.length(text) > most:
        raise Refused(reason("text.part_too_long", what=reason(f"part.{what}"), most=most))
    if UNSTORABLE.search(text):
        raise Refused(reason("moltbook.bad_characters", what=reason(f"part.{what}")))
