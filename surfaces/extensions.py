"""The extension of `surfaces` itself: desk kinds and sources of notices."""

from surfaces.desk import account_items, comment_items, draft_items
from surfaces.extension_points import Extension
from surfaces.notices.system_events import silent_workers

EXTENSION = Extension(
    desk_kinds=(*draft_items.KINDS, *comment_items.KINDS, *account_items.KINDS),
    notice_sources=(silent_workers,),
)
