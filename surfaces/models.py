"""All models of this app, for Django."""

from surfaces import reason_texts  # noqa: F401 - registers the sentences of stored reasons
from surfaces.accounts.models.account import Account
from surfaces.accounts.models.rate_limit import RateLimitWindow
from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditEvent
from surfaces.desk.models import DeskItem, DeskViewer, SavedView
from surfaces.drafts.models import Draft
from surfaces.hub.models import (
    HubAuthor,
    HubClock,
    HubComment,
    HubCommunity,
    HubMention,
    HubPost,
    HubRead,
)
from surfaces.messages.models import Message
from surfaces.notices.models.notice import Notice, NoticeCursor
from surfaces.notices.models.rule import NoticeDelivery, NoticeRule
from surfaces.operators.models.api_key import ApiKey
from surfaces.operators.models.known_browser import KnownBrowser
from surfaces.operators.models.operator import Operator
from surfaces.operators.models.passkey import Passkey
from surfaces.operators.models.recovery_code import RecoveryCode
from surfaces.operators.models.session import OperatorSession
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.pauses.models import Pause
from surfaces.settings.models import InstanceSettings
from surfaces.spam.models import SpamDecision, SpamToken
from surfaces.watcher.models import ReadingPlace, WatchRound
from surfaces.workers.models import Worker

__all__ = [
    "Account", "ApiKey", "AuditEvent", "DeskItem", "DeskViewer", "Draft", "HubAuthor", "HubClock",
    "HubComment", "HubCommunity", "HubMention", "HubPost", "HubRead", "InstanceSettings",
    "KnownBrowser", "Message", "Notice", "NoticeCursor", "NoticeDelivery", "NoticeRule", "Operator",
    "OperatorSession", "Passkey", "Pause", "RateLimitWindow", "ReadingPlace", "RecoveryCode",
    "SavedView", "SignInAttempt", "SpamDecision", "SpamToken", "Surface", "WatchRound", "Worker",
]  # fmt: skip
