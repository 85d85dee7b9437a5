"""Recognise our own replies among comments that name no author."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Q

from surfaces.accounts.models.account import Account
from surfaces.adapters.own_items import has_no_author, same_text
from surfaces.adapters.types import Item, ItemKind, Skipped
from surfaces.drafts.models import Draft

COULD_BE_OURS = "look.could_be_ours"


def claim_own(account: Account, items: Sequence[Item]) -> tuple[list[Item], list[Skipped]]:
    """Mark as ours what a draft of ours became; leave out what only has the text of one.

    What is left out is not stored as somebody's comment, so nobody answers our own text. It is
    stored when the delivery is settled.
    """
    nameless = {i.remote_id: i for i in items if _may_be_a_reply(i)}
    if not nameless:
        return list(items), []
    posts = {item.post_id for item in nameless.values()}
    begun = Q(asked_at__isnull=False) | Q(sendings__gt=0)
    here = Q(target__post__remote_id__in=posts, target__account=account)
    drafts = Draft.objects.filter(begun & here, account=account).values_list("remote_id", "text")
    sent = {remote_id for remote_id, _ in drafts if remote_id}
    kept, skipped = [], []
    for item in items:
        if item.remote_id not in nameless:
            kept.append(item)
        elif item.remote_id in sent:
            kept.append(replace(item, is_ours=True))
        elif any(same_text(item.content, text) for _, text in drafts):
            skipped.append(Skipped(item.remote_id, COULD_BE_OURS))
        else:
            kept.append(item)
    return kept, skipped


def _may_be_a_reply(item: Item) -> bool:
    return item.kind == ItemKind.COMMENT and not item.is_ours and has_no_author(item)
