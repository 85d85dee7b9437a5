"""Change how an agent behaves, what it may cost and who writes its words.

Every change is one line in the ledger that says what each value was and became, so it can
be taken back from there. A key is never in it.
"""

from dialogue.tuning.brains import (
    OPEN,
    add_brain,
    change_brain,
    move_brain,
    remove_brain,
    set_brains,
)
from dialogue.tuning.changing import (
    can_undo,
    change_agent,
    change_settings,
    clear_back_off,
    undo,
)
from dialogue.tuning.house import set_house_budget, undo_house_budget
from dialogue.tuning.values import CHANGED, Changed, ChangedMeanwhile, in_words, mark_of, values_of

__all__ = [
    "CHANGED",
    "OPEN",
    "Changed",
    "ChangedMeanwhile",
    "add_brain",
    "can_undo",
    "change_agent",
    "change_brain",
    "change_settings",
    "clear_back_off",
    "in_words",
    "mark_of",
    "move_brain",
    "remove_brain",
    "set_brains",
    "set_house_budget",
    "undo",
    "undo_house_budget",
    "values_of",
]
