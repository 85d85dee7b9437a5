"""What services answered, and how accounts are."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _lazy

from surfaces.text.reasons import register

register(
    {
        "account.asked_to_wait": _lazy("the service asked to wait (%(bucket)s)"),
        "account.connected_twice": _lazy(
            "%(handle)s is connected under another name already; use that account"
        ),
        "account.credential_lost": _lazy(
            "the credential of %(name)s cannot be decrypted; enter it again"
        ),
        "account.rate_spent": _lazy("the rate limit for %(bucket)s requests is used up"),
        "account.unusable": _lazy("the account cannot be used as it is: %(error)s"),
        "account_state.auth_failed": _lazy("sign-in failed"),
        "account_state.down": _lazy("down"),
        "account_state.limited": _lazy("limited"),
        "account_state.ok": _lazy("working"),
        "account_state.suspended": _lazy("suspended"),
        "hub.key_impossible": _lazy("the hub's key holds characters that no key has"),
        "hub.list_endless": _lazy("the hub's list of our posts does not end"),
        "hub.no_id_given": _lazy("the hub took it and did not say under which id"),
        "hub.no_identity": _lazy("the hub did not say who we are"),
        "hub.no_object": _lazy("the hub's answer is not a JSON object"),
        "hub.other_post": _lazy("the hub answered with another post than we asked for"),
        "hub.post_unreadable": _lazy("a post in the hub's list cannot be read"),
        "hub.post_unusable": _lazy("the hub sent a post that cannot be used: %(error)s"),
        "hub.says": _lazy("the hub says: %(words)s"),
        "hub.status": _lazy("the hub answered with status %(status)s"),
        "hub.thread_cut": _lazy("the hub did not show the whole thread"),
        "item.circle": _lazy("the comments it answers run in a circle"),
        "item.no_author": _lazy("it has no author"),
        "item.no_id": _lazy("it has no id"),
        "item.no_object": _lazy("a %(what)s that is no object"),
        "item.no_text": _lazy("its content is no text"),
        "item.no_time": _lazy("it does not say when it was written"),
        "moltbook.answer_unusable": _lazy("the answer to GET %(path)s cannot be used"),
        "moltbook.bad_characters": _lazy(
            "the %(what)s holds characters that Moltbook cannot store"
        ),
        "moltbook.comment_deleted": _lazy("a comment of ours was deleted there since"),
        "moltbook.comments_cut": _lazy("the list is cut at %(comments)s comments"),
        "moltbook.html_page": _lazy("a page of HTML"),
        "moltbook.items_unreadable": _lazy("%(skipped)s items of the thread cannot be read"),
        "moltbook.key_impossible": _lazy("the Moltbook key holds characters that no key has"),
        "moltbook.key_refused": _lazy("the key was rejected: %(said)s"),
        "moltbook.needs_https": _lazy("use https: a key must not travel in the open"),
        "moltbook.needs_www": _lazy(
            "write %(www)s: without www Moltbook redirects and the key is dropped"
        ),
        "moltbook.network_blocked": _lazy(
            "the network in front of the service blocked the request"
        ),
        "moltbook.no_base_url": _lazy("%(url)s is no base URL: use %(base_url)s"),
        "moltbook.no_comments": _lazy("the answer holds no list of comments"),
        "moltbook.no_dialect": _lazy("Moltbook has no dialect %(dialect)s: use open or live"),
        "moltbook.no_id_given": _lazy("the answer does not name the %(name)s it made"),
        "moltbook.no_posts": _lazy("the answer holds no list of posts"),
        "moltbook.no_words": _lazy("status %(status)s without a message"),
        "moltbook.not_claimed": _lazy("not claimed yet"),
        "moltbook.posts_cut": _lazy("the list is cut at %(rows)s posts"),
        "moltbook.posts_unreadable": _lazy("%(skipped)s posts cannot be read"),
        "moltbook.puzzle_unsolved": _lazy("the puzzle cannot be solved: %(error)s"),
        "moltbook.too_many": _lazy("too many requests: %(said)s"),
        "moltbook.unknown_api": _lazy("this is not the API we know: %(error)s"),
        "moltbook.verdict_missing": _lazy("the service did not say whether the answer was right"),
        "moltbook.wants_money": _lazy("the service requires payment: %(said)s"),
        "service.answer_taken": _lazy("the service took the answer"),
        "service.answer_too_large": _lazy("the answer is larger than 8 MB"),
        "service.answer_too_slow": _lazy("the answer took too long to arrive"),
        "service.answer_wrong": _lazy("the service says the answer is wrong"),
        "service.bad_path": _lazy("the path %(path)s would leave the service"),
        "service.cannot_delete": _lazy("this service cannot delete"),
        "service.challenge_expired": _lazy("the challenge had expired"),
        "service.challenge_used": _lazy("the challenge was answered before"),
        "service.connection_broke": _lazy("the connection broke after we had asked"),
        "service.no_challenges": _lazy("this service sets no challenges"),
        "service.no_identity": _lazy("the service did not say who we are"),
        "service.not_made": _lazy("the request could not be made: %(error)s"),
        "service.not_reached": _lazy("the service could not be reached"),
        "service.not_unpacked": _lazy("the answer could not be unpacked"),
        "service.redirect": _lazy("the service answered with a redirect; check the base URL"),
        "service.status_said": _lazy("status %(status)s: %(said)s"),
        "watch.database_failed": _lazy("Database error: %(name)s."),
        "watch.program_failed": _lazy("Internal error: %(name)s. See the log for details."),
        "watch.taken_over": _lazy("Another watcher took over."),
        "watch.thread": _lazy("the thread: %(error)s"),
    }
)
