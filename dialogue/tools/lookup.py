"""Find what a tool call is about: among stored messages, or at the service.

Shown is only what stands on the account of the presence, was not deleted, is neither spam nor
suspect, and belongs to a community that the grants allow.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from urllib.parse import unquote

from django.db.models import Q, QuerySet
from django.utils import translation

from dialogue.tools import grants
from dialogue.tools.base import FatalToolError, ToolContext, ToolError
from dialogue.tools.listing import SERVICE
from surfaces.accounts.clients import open_reader
from surfaces.accounts.models.account import AccountState
from surfaces.accounts.services import stop_account
from surfaces.adapters.base import Reader
from surfaces.adapters.parsing import UNSTORABLE
from surfaces.adapters.types import Item, ItemKind, ThreadItems
from surfaces.errors import AuthFailed, Limited, PaymentRequired, SurfaceError, Suspended
from surfaces.messages.models import SpamStatus
from surfaces.models import Account, Message
from surfaces.spam import classify
from surfaces.web.requests import parse_id

HELD = (SpamStatus.SPAM, SpamStatus.SUSPECT)
UNFIT = Q(spam_status__in=HELD) | Q(deleted_at__isnull=False)
UNKNOWN = (
    "There is no message {ref} here. Use an id that a tool or this conversation showed you: the"
    " number of a message, or item:…"
)


def visible(account: Account) -> QuerySet[Message]:
    rows = Message.objects.filter(account=account, post__deleted_at=None).exclude(UNFIT)
    return rows.select_related("post", "account__surface").defer("raw_json", "search")


def granted(context: ToolContext, scope: str) -> Callable[[str | None], bool]:
    """Whether the grants allow this scope in a community, by its name."""
    kept = context.activation.agent.settings.grants
    on = f"{context.account.surface.kind}:{scope}"
    known: dict[str, bool] = {}

    def allowed(community: str | None) -> bool:
        name = community or ""
        if name not in known:
            known[name] = grants.allows(kept, on, name)
        return known[name]

    return allowed


def message_of(account: Account, ref: str) -> Message | None:
    """The stored message that `ref` names, if it may be shown."""
    if ref.startswith(SERVICE):
        ids = remote_ids(ref)
        return visible(account).filter(remote_id=ids[-1]).first()
    number = parse_id(ref.removeprefix("message").strip(" #"))
    return visible(account).filter(pk=number).first() if number else None


def find_message(account: Account, ref: str) -> Message:
    if found := message_of(account, ref):
        return found
    raise ToolError(UNKNOWN.format(ref=ref[:80]))


def remote_ids(ref: str) -> list[str]:
    """The ids of a post and perhaps its comment at the service."""
    ids = [unquote(part) for part in ref.removeprefix(SERVICE).split(":")]
    # A path is tidied before it is asked for: two dots would ask for another page.
    is_sane = all(each.strip(".") for each in ids) and len(ids) <= 2
    is_sane = is_sane and not UNSTORABLE.search("".join(ids))
    if not ref.startswith(SERVICE) or not is_sane:
        raise ToolError(UNKNOWN.format(ref=ref[:80]))
    return ids


def is_readable(account: Account) -> bool:
    """Whether its service may be asked now."""
    return account.is_on and account.surface.is_on and account.state != AccountState.AUTH_FAILED


@contextmanager
def reading(context: ToolContext) -> Iterator[Reader]:
    """A reader of the service. Its errors become errors for the model. No transaction may be open.

    A refused credential stops the account and is fatal; a suspension only stops it. The model is
    not told what the service said: an error is no way for a service to talk to it.
    """
    account = context.account
    try:
        with closing(open_reader(account, clock=lambda: context.now)) as reader:
            yield reader
    except AuthFailed as error:
        stop_account(account, error, now=context.now)
        raise FatalToolError("The service refused the credential of this account.") from error
    except (Suspended, PaymentRequired) as error:
        stop_account(account, error, now=context.now)
        raise ToolError("The service lets this account do nothing for now.") from error
    except Limited as error:
        raise ToolError("The service allows no more requests for now.") from error
    except SurfaceError as error:
        raise ToolError("The service could not be read just now.") from error


def english(error: object) -> str:
    with translation.override("en"):
        return str(error)


def read_thread(context: ToolContext, post_id: str) -> tuple[Item, ThreadItems]:
    """A thread as the service shows it now, and its root. Stores nothing."""
    if not is_readable(context.account):
        raise ToolError("The account cannot read its service now; only stored messages are there.")
    with reading(context) as reader:
        thread = reader.thread(post_id)
    if thread.root is None or thread.root.is_deleted:
        raise ToolError("That post does not exist any more.")
    return thread.root, thread


def fit_items(context: ToolContext, items: Sequence[Item]) -> list[Item]:
    """Of items at the service those that may be shown: judged as if they were stored now."""
    account = context.account
    names = [item.remote_id for item in items]
    unfit = Message.objects.filter(UNFIT, account=account, remote_id__in=names)
    held = set(unfit.values_list("remote_id", flat=True))
    comments = [item for item in items if item.kind == ItemKind.COMMENT and not item.is_ours]
    judged = classify.classify_items(account, comments, context.now) if comments else {}
    held |= {name for name, verdict in judged.items() if verdict.status in HELD}
    return [item for item in items if item.remote_id not in held and not item.is_deleted]
