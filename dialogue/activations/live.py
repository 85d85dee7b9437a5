"""What open pages compare to know that activations changed."""

from django.db.models import Count, Max

from dialogue.activations.models import Activation
from surfaces.operators.scope import Scope


def live_mark(reach: Scope) -> str:
    """Another text whenever an activation within reach began, took a step or ended. Two queries."""
    rows = reach.narrow(
        Activation.objects.order_by("-pk"), account="presence__account", agent="agent__slug"
    )
    newest = rows.values_list("pk", flat=True).first() or 0
    now = rows.running().order_by().aggregate(count=Count("pk"), lease=Max("lease_until"))
    until = f"{now['lease']:%d%H%M%S%f}" if now["lease"] else ""
    return f"{newest}.{now['count']}.{until}"
