"""The nouns of the ground floor."""

from surfaces.models.account import Account
from surfaces.models.allowance import Allowance
from surfaces.models.api_key import ApiKey
from surfaces.models.audit import AuditEvent
from surfaces.models.desk import DeskItem, DeskReader, SavedView
from surfaces.models.draft import Draft
from surfaces.models.house import House
from surfaces.models.hub import (
    HubAuthor,
    HubClock,
    HubComment,
    HubCommunity,
    HubPost,
    HubRead,
)
from surfaces.models.message import Message
from surfaces.models.notice import Notice, NoticeMark
from surfaces.models.notice_rule import NoticeDelivery, NoticeRule
from surfaces.models.operator import Operator
from surfaces.models.pause import Pause
from surfaces.models.recovery_code import RecoveryCode
from surfaces.models.sign_in import SignInAttempt
from surfaces.models.spam import SpamDecision, SpamToken
from surfaces.models.surface import Surface
from surfaces.models.watch_round import WatchRound
from surfaces.models.worker import Worker

__all__ = [
    "Account",
    "Allowance",
    "ApiKey",
    "AuditEvent",
    "DeskItem",
    "DeskReader",
    "Draft",
    "House",
    "HubAuthor",
    "HubClock",
    "HubComment",
    "HubCommunity",
    "HubPost",
    "HubRead",
    "Message",
    "Notice",
    "NoticeDelivery",
    "NoticeMark",
    "NoticeRule",
    "Operator",
    "Pause",
    "RecoveryCode",
    "SavedView",
    "SignInAttempt",
    "SpamDecision",
    "SpamToken",
    "Surface",
    "WatchRound",
    "Worker",
]
