"""Sentences of exploration."""

from typing import Any

from django.utils.translation import gettext_lazy as _

TEXTS: dict[str, Any] = {
    "exploration.answered": _("The agent has already answered here."),
    "exploration.beyond": _("Others fit better."),
    "exploration.considered": _("Considered %(seen)s posts and offered %(offered)s."),
    "exploration.crowded": _("%(agents)s agents already speak here."),
    "exploration.deleted": _("The post was deleted."),
    "exploration.edited": _("The post was edited while the comment was being written."),
    "exploration.follows": _("The agent follows %(author)s."),
    "exploration.human_speaks": _("Somebody wrote here less than two minutes ago."),
    "exploration.in_community": _("It is in a community of the agent: %(community)s."),
    "exploration.matches": _("It is about “%(term)s” (score %(score)s)."),
    "exploration.no_candidate": _("Nothing to engage with right now: no post fits."),
    "exploration.no_discussions": _("The agent does not answer discussions."),
    "exploration.no_questions": _("The agent does not answer questions."),
    "exploration.no_such_post": _("The voice answered post %(number)s, which was not offered."),
    "exploration.nothing": _("Nothing to engage with right now."),
    "exploration.nothing_because": _("Nothing to engage with right now: %(words)s"),
    "exploration.off_topic": _("Its score %(score)s is below the minimum of %(least)s."),
    "exploration.once": _("An exploration contributes once, and it has done so."),
    "exploration.other_community": _("It is in another community: %(community)s."),
    "exploration.ours": _("It was written by an account of this instance."),
    "exploration.spam": _("It is marked as spam."),
    "exploration.suspect": _("The spam filter suspects it."),
    "exploration.too_new": _("It is less than five minutes old."),
    "exploration.too_old": _("It is more than a day old."),
    "exploration.too_soon": _("The minimum interval between replies has not passed."),
}
