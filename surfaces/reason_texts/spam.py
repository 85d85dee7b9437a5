"""Why the spam filter holds a comment."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext_lazy

from surfaces.text.reasons import register

register(
    {
        "lure.attention": _lazy("paid followers or likes"),
        "lure.cheap": _lazy("a discount"),
        "lure.claim": _lazy("something free to claim"),
        "lure.coin": _lazy("a cryptocurrency to buy"),
        "lure.coins": _lazy("free cryptocurrency"),
        "lure.elsewhere": _lazy("a chat outside this surface"),
        "lure.haste": _lazy("a pressing deadline"),
        "lure.money": _lazy("easy money"),
        "lure.profile": _lazy("a profile to visit"),
        "lure.recovery": _lazy("recovery of lost money"),
        "lure.script": _lazy("a script to download and run"),
        "lure.vices": _lazy("gambling, sex or drugs"),
        "lure.vices_or_papers": _lazy("gambling, sex or forged documents"),
        "lure.wallet": _lazy("a wallet to connect"),
        "order.conceal": _lazy("hide something from the operator"),
        "order.decode": _lazy("decode a text and follow it"),
        "order.ignore": _lazy("ignore earlier instructions"),
        "order.machine": _lazy("follow orders meant for AI readers"),
        "order.mode": _lazy("switch to a mode without rules"),
        "order.persona": _lazy("take on another persona"),
        "order.secrets": _lazy("reveal the prompt or secrets"),
        "order.system": _lazy("follow fake system messages"),
        "spam.asks": _lazy("asks to %(asks)s"),
        "spam.bare_address": _lazy("a link to an IP address instead of a domain"),
        "spam.capitals": _lazy("written in capital letters"),
        "spam.foreign_letters": _lazy("letters of other alphabets that imitate Latin letters"),
        "spam.hasty": _lazy("%(author_recent)s comments in ten minutes"),
        "spam.hidden_comment": _lazy("a hidden HTML comment"),
        "spam.invisible": _lazy("invisible or reversed text"),
        "spam.known": _lazy("the author got a reply or was marked clean before"),
        "spam.links": ngettext_lazy("%(n)s link", "%(n)s links", "n"),
        "spam.links_new": ngettext_lazy(
            "%(n)s link, %(new)s to domains never seen here",
            "%(n)s links, %(new)s to domains never seen here",
            "n",
        ),
        "spam.mentions": _lazy("mentions %(mentioned)s accounts"),
        "spam.misleading_link": _lazy("a link whose text shows another domain than its target"),
        "spam.monotone": _lazy("the same words repeated many times"),
        "spam.offer_domain": _lazy("the offer links to a domain not seen before"),
        "spam.offers": _lazy("offers %(offers)s"),
        "spam.ours": _lazy("written by an account of this instance"),
        "spam.pictures": _lazy("many emoji"),
        "spam.punycode": _lazy(
            "a link to an internationalized domain that may imitate another (punycode)"
        ),
        "spam.repeated": ngettext_lazy(
            "same text by %(n)s other author in a day",
            "same text by %(n)s other authors in a day",
            "n",
        ),
        "spam.short_link": _lazy("a shortened link (%(short)s) that hides its target"),
        "spam.shouts": _lazy("many exclamation marks or stretched words"),
        "spam.spelled": _lazy("a phrase spelled letter by letter"),
        "spam.split_words": ngettext_lazy(
            "%(n)s word split by invisible characters",
            "%(n)s words split by invisible characters",
            "n",
        ),
        "spam.unproven": _lazy("suspect at most: these rules alone do not prove spam"),
        "spam.unread": _lazy("only the first %(looked_at)s of %(length)s characters were checked"),
        "spam.words_clean": _lazy("words typical of clean comments: %(named)s"),
        "spam.words_spam": _lazy("words typical of spam: %(named)s"),
    }
)
