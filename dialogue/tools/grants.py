"""Grants: which tools an agent may use, and on what. Pure.

    hub:read             every community of the hub
    hub:write:commons    posts and comments in this community only
    moltbook:*           every scope of that service
    !hub:write:announce  never there, whatever else is granted

A grant is `service:scope[:resource]`; `*` stands for a whole part. Without a resource it is about
all of them. A deny wins over every allow.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from surfaces import adapters
from surfaces.errors import BadInput
from surfaces.text.reasons import StoredReason, reason

MOST_GRANTS = 100  # of one agent
LONGEST_GRANT = 120  # characters
ANY = "*"
CHECKED_BY_TOOL = "\0"  # a resource that is known only when the tool runs, which asks again

SCOPES = ("read", "write", ANY)  # of what this program serves itself
SERVED = frozenset({"memory", *adapters.READERS})  # others, such as mcp, name scopes of their own

_FORM = re.compile(
    r"(!?)(\*|[a-z][a-z0-9_-]*)"
    r":(\*|[A-Za-z0-9][A-Za-z0-9_.-]*)"
    r"(?::(\S(?:.*\S)?))?"  # whatever a service calls its own
)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


@dataclass(frozen=True, slots=True)
class Grant:
    service: str
    scope: str
    resource: str = ANY
    denies: bool = False

    def covers(self, service: str, scope: str, resource: str) -> bool:
        """Whether it is about this. A resource that is not known is covered by `*` only.

        A deny is about names that a service may take for the same one, too.
        """
        if self.denies and _alike(self.resource, resource):
            resource = self.resource
        parts = ((self.service, service), (self.scope, scope), (self.resource, resource))
        return all(mine in (ANY, asked) for mine, asked in parts)

    def __str__(self) -> str:
        parts = [self.service, self.scope, *([self.resource] if self.resource != ANY else [])]
        return ("!" if self.denies else "") + ":".join(parts)


def _alike(one: str, other: str) -> bool:
    """Whether two names differ in case, width, invisible characters or marks before them only."""
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    name = unicodedata.normalize("NFKC", _UNPRINTABLE.sub("", name)).casefold()
    return re.sub(r"^/?[a-z]/", "", name.strip()).strip("/#!@ ")


def check_grant(text: str) -> Grant:
    """Parse one grant, or raise `BadInput` that says what is wrong with it."""
    shown = _UNPRINTABLE.sub("�", text)[:LONGEST_GRANT]
    if len(text) > LONGEST_GRANT:
        raise BadInput(reason("grant.too_long", text=shown, most=LONGEST_GRANT))
    if _UNPRINTABLE.search(text) or not text.isprintable():
        raise BadInput(reason("grant.invisible", text=shown))
    found = _FORM.fullmatch(text)
    if found is None:
        raise BadInput(reason("grant.wrong_form", text=shown))
    denies, service, scope, resource = found.groups()
    if service in SERVED and scope not in SCOPES:
        raise BadInput(reason("grant.no_such_scope", text=shown, scopes=", ".join(SCOPES)))
    return Grant(service, scope, resource or ANY, denies == "!")


def check_grants(texts: Sequence[str]) -> list[Grant]:
    """Parse the grants of an agent, or raise `BadInput` for the first that cannot be kept."""
    if len(texts) > MOST_GRANTS:
        raise BadInput(reason("grant.too_many", count=len(texts), most=MOST_GRANTS))
    grants = [check_grant(text) for text in texts]
    for number, grant in enumerate(grants):
        if grant in grants[:number]:
            raise BadInput(reason("grant.twice", text=str(grant)))
    return grants


def allows(grants: Iterable[str], scope: str, resource: str = "") -> bool:
    """Whether a call of `scope` (service:scope) on this resource is granted now."""
    if resource == CHECKED_BY_TOOL:
        return offers(grants, scope)
    service, _, name = scope.partition(":")
    about = [grant for grant in _readable(grants) if grant.covers(service, name, resource)]
    return bool(about) and not any(grant.denies for grant in about)


def offers(grants: Iterable[str], scope: str) -> bool:
    """Whether a call of `scope` can be granted on some resource, so that it is offered."""
    service, _, name = scope.partition(":")
    known = list(_readable(grants))
    for allowed in known:
        about = [grant for grant in known if grant.covers(service, name, allowed.resource)]
        if allowed in about and not any(grant.denies for grant in about):
            return True
    return False


def denies_some(grants: Iterable[str], scope: str) -> bool:
    """Whether some resource is denied: what the service itself chooses may be that one."""
    service, _, name = scope.partition(":")
    known = (grant for grant in _readable(grants) if grant.denies)
    return any(grant.covers(service, name, grant.resource) for grant in known)


def _readable(grants: Iterable[str]) -> Iterable[Grant]:
    """Stored grants. One that cannot be read grants nothing; a deny of that kind denies all."""
    for text in grants:
        try:
            yield check_grant(text)
        except BadInput:
            if text.lstrip().startswith("!"):
                yield Grant(ANY, ANY, ANY, denies=True)


def meaning(grant: Grant) -> StoredReason:
    """What a grant means, for pages. Render it in the reader's language."""
    kind = "deny" if grant.denies else "allow"
    service = reason("grant.any_service") if grant.service == ANY else grant.service
    known = {"read", "write", "run", ANY}
    scope = "any" if grant.scope == ANY else grant.scope
    what = reason(f"grant.scope_{scope}") if grant.scope in known else grant.scope
    if grant.resource == ANY:
        return reason(f"grant.{kind}", what=what, service=service)
    return reason(f"grant.{kind}_there", what=what, service=service, resource=grant.resource)
