"""API keys: issue, revoke and authenticate.

A token is `clq_<prefix>_<secret>`, shown once. The prefix finds the key; of the secret only
the digest is kept. A revoked key stays revoked.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Min, Q
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditEvent
from surfaces.errors import BadInput, NotAllowed
from surfaces.operators.models.api_key import ApiKey, KeyScope
from surfaces.operators.models.operator import Operator
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.operators.scope import both, limit_of
from surfaces.operators.services import LETTERS, agent_choices

PREFIX = 8  # letters
BYTES = 32  # of the secret
TOKEN = re.compile(r"clq_([a-z0-9]{8})_([A-Za-z0-9_-]{43})")
USED_EVERY = timedelta(minutes=1)  # the last use is written no oftener
WINDOW = timedelta(minutes=15)
MOST_FOR_ALL = 30  # tokens that are none, per network, before it waits
LONGEST = timedelta(days=3 * 366)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    key: ApiKey
    token: str  # in the clear, this once


@transaction.atomic
def issue(
    *,
    name: str,
    operator: Operator | None = None,
    agent: str = "",
    scope: str,
    surfaces: Iterable[Surface] = (),
    agents: Iterable[str] = (),
    only_surfaces: bool = False,
    only_agents: bool = False,
    expires_at: datetime | None = None,
    by: str,
    now: datetime,
) -> IssuedKey:
    name, slugs, chosen = " ".join(name.split()), sorted(set(agents)), list(surfaces)
    _check(name, operator, agent, scope, slugs)
    if expires_at is not None and not now < expires_at <= now + LONGEST:
        raise BadInput(_lazy("Let it expire in the future, three years from now at the latest."))
    prefix = "".join(secrets.choice(LETTERS) for _ in range(PREFIX))
    secret = secrets.token_urlsafe(BYTES)
    key = ApiKey.objects.create(
        name=name,
        prefix=prefix,
        digest=_digest(secret),
        operator=operator,
        agent=agent,
        scope=scope,
        only_surfaces=only_surfaces or bool(chosen),
        only_agents=only_agents or bool(slugs),
        agents=slugs,
        made_by=by,
        made_at=now,
        expires_at=expires_at,
    )
    key.surfaces.set(chosen)
    places = sorted(surface.slug for surface in key.surfaces.all())
    facts = {"name": name, "owner": key.owner, "scope": scope}
    AuditEvent.objects.record(
        "api_key.issued", actor=by, subject=key, **facts, surfaces=places, agents=slugs
    )
    return IssuedKey(key, f"clq_{prefix}_{secret}")


def _check(name: str, operator: Operator | None, agent: str, scope: str, agents: list[str]) -> None:
    if not name or len(name) > 80:
        raise BadInput(_lazy("Give it a name of 1 to 80 characters that says what uses it."))
    if scope not in KeyScope.values:
        raise BadInput(_lazy("%(scope)s is not a scope. Choose read or write."), scope=repr(scope))
    if (operator is None) == (not agent):
        raise BadInput(_lazy("A key belongs to one operator or to one agent. Choose one."))
    if operator is not None and not operator.is_active:
        inactive = _lazy("%(name)s is deactivated, so an API key would not work.")
        raise BadInput(inactive, name=operator.name)
    known = {slug for slug, _ in agent_choices()}
    if missing := [slug for slug in [agent, *agents] if slug and slug not in known]:
        unknown = _lazy("There is no agent %(missing)s. Choose from the list.")
        raise BadInput(unknown, missing=missing[0])


@transaction.atomic
def revoke(key: ApiKey, *, by: str, now: datetime) -> None:
    if not ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now):
        raise NotAllowed(_lazy("This key was revoked already."))
    key.revoked_at = now
    AuditEvent.objects.record("api_key.revoked", actor=by, subject=key, name=key.name)


def authenticate(token: str, *, now: datetime) -> ApiKey | None:
    """The live key of this token. Constant time for wrong prefixes and secrets."""
    parts = TOKEN.fullmatch(token)
    prefix, secret = parts.groups() if parts else ("", "")
    live = ApiKey.objects.live(now).select_related("operator").prefetch_related("surfaces")
    key = live.filter(prefix=prefix).first()
    is_right = hmac.compare_digest(_digest(secret), key.digest if key else NOBODYS)
    if key is None or not is_right:
        return None
    if key.last_used_at is None or key.last_used_at <= now - USED_EVERY:
        stale = Q(last_used_at=None) | Q(last_used_at__lte=now - USED_EVERY)
        ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)
    return key


def limits(key: ApiKey) -> dict[str, list[str] | None]:
    """Surfaces and agents it reaches, its own limits and its owner's together; None is all."""
    places, agents = _places_of(key), limit_of(key.only_agents, key.agents)
    owner = key.operator
    if owner is not None and not owner.may_manage:
        places, agents = both(places, _places_of(owner)), both(agents, owner.agent_limit)
    elif owner is None:
        agents = both(agents, frozenset({key.agent}))
    named = {"surfaces": places, "agents": agents}
    return {kind: None if some is None else sorted(some) for kind, some in named.items()}


def _places_of(limited: ApiKey | Operator) -> frozenset[str] | None:
    return limit_of(limited.only_surfaces, (place.slug for place in limited.surfaces.all()))


def throttle(token: str, *, network: str, now: datetime) -> timedelta | None:
    """Count a token that is none; return how long its network waits if there were too many.
    Right tokens are never held up: 256 random bits are not found by trying.
    """
    name, place = token[:12], f"api:{network}"  # apart from the tries at the door for people
    recent = SignInAttempt.objects.filter(network=place, at__gt=now - WINDOW)
    found = recent.aggregate(count=Count("pk"), first=Min("at"))
    if found["count"] >= MOST_FOR_ALL:
        wait: timedelta = found["first"] + WINDOW - now
        return wait
    SignInAttempt.objects.create(username=name.replace("\0", ""), network=place[:43], at=now)
    return None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


NOBODYS = _digest("")
