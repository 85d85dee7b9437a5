"""The nouns of the ground floor."""

from surfaces.models.account import Account
from surfaces.models.allowance import Allowance
from surfaces.models.audit import AuditEvent
from surfaces.models.draft import Draft
from surfaces.models.hub import (
    HubAuthor,
    HubClock,
    HubComment,
    HubCommunity,
    HubPost,
    HubRead,
)
from surfaces.models.message import Message
from surfaces.models.operator import Operator
from surfaces.models.pause import Pause
from surfaces.models.sign_in import SignInAttempt
from surfaces.models.spam import SpamDecision, SpamToken
from surfaces.models.surface import Surface
from surfaces.models.watch_round import WatchRound

__all__ = [
    "Account",
    "Allowance",
    "AuditEvent",
    "Draft",
    "HubAuthor",
    "HubClock",
    "HubComment",
    "HubCommunity",
    "HubPost",
    "HubRead",
    "Message",
    "Operator",
    "Pause",
    "SignInAttempt",
    "SpamDecision",
    "SpamToken",
    "Surface",
    "WatchRound",
]
