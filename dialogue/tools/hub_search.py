"""hub_search: posts and comments with given words, newest first."""

from pydantic import Field

from dialogue.agents.models.settings import ToolRisk
from dialogue.tools.arguments import Limit, Name, Text, ToolArguments
from dialogue.tools.base import Tool, ToolContext, ToolError, ToolResult
from dialogue.tools.grants import CHECKED_BY_TOOL
from dialogue.tools.listing import listed, show_item, show_message
from dialogue.tools.lookup import fit_items, granted, is_readable, reading, visible
from surfaces.adapters.feeds import MOST_POSTS
from surfaces.adapters.types import Item
from surfaces.messages.filters import Filters
from surfaces.messages.listing import list_messages
from surfaces.messages.models import MessageKind
from surfaces.models import Message

EXCERPT = 600  # characters of one text
MORE = 3  # times as many are looked at as are wanted: some may not be shown


class HubSearchArguments(ToolArguments):
    query: Text = Field(max_length=200, description="Words that all stand in the text or title.")
    community: Name = Field("", max_length=200, description="Only in this community.")
    author: Name = Field("", max_length=200, description="Only by this author.")
    limit: Limit = Field(10, description="At most so many.")


def run(context: ToolContext, asked: HubSearchArguments) -> ToolResult:
    allowed = granted(context, "read")
    stored = [row for row in _stored(context, asked) if allowed(row.post.submolt)]
    note = ""
    try:
        items = _at_service(context, asked)
    except ToolError as error:
        if error.__class__ is not ToolError:
            raise
        items, note = [], f"{error} Only stored messages were searched."
    known = Message.objects.filter(
        account=context.account, remote_id__in=[item.remote_id for item in items]
    )
    names = set(known.values_list("remote_id", flat=True))
    once = {item.remote_id: item for item in reversed(items)}  # of one id twice, the first
    new = [
        item for item in once.values() if item.remote_id not in names and allowed(item.community)
    ]
    found = [(row.created_at, show_message(row, most=EXCERPT)) for row in stored]
    found += [(item.created_at, show_item(item, most=EXCERPT)) for item in new]
    found.sort(key=lambda pair: pair[0], reverse=True)
    return listed([shown for _, shown in found[: asked.limit]], note)


def _stored(context: ToolContext, asked: HubSearchArguments) -> list[Message]:
    """Stored messages, in the bounded time of the messages page.

    Comments stand in the community of their post; services rarely repeat it.
    """
    where = asked.community
    found = _listed(context, asked, community=where)
    if where:
        comments = _listed(context, asked, kind=MessageKind.COMMENT)
        known = {row.pk for row in found}
        found += [row for row in comments if row.post.submolt == where and row.pk not in known]
    return found


def _listed(
    context: ToolContext, asked: HubSearchArguments, *, community: str = "", kind: str = ""
) -> list[Message]:
    filters = Filters(
        account=context.account.pk, words=asked.query, author=asked.author.removeprefix("@"),
        community=community, kind=kind,
    )  # fmt: skip
    page = list_messages(filters, {}, size=asked.limit * MORE)
    rows = visible(context.account).in_bulk([row.pk for row in page.rows])
    return [rows[row.pk] for row in page.rows if row.pk in rows]


def _at_service(context: ToolContext, asked: HubSearchArguments) -> list[Item]:
    """What the service finds, or of its newest posts those with the words."""
    account, traits = context.account, context.account.surface.traits
    if not (traits.has_search or traits.has_feed) or not is_readable(account):
        return []
    author = asked.author.removeprefix("@")
    with reading(context) as reader:
        if traits.has_search:
            feed = reader.search(
                asked.query, community=asked.community, author=author, limit=asked.limit * MORE
            )
            return fit_items(context, feed.posts)
        feed = reader.feed([asked.community] if asked.community else [], MOST_POSTS)
    words = asked.query.casefold().split()
    return [
        item for item in fit_items(context, feed.posts)
        if all(word in f"{item.title}\n{item.content}".casefold() for word in words)
        and author.casefold() in ("", item.author.casefold())
    ]  # fmt: skip


TOOL = Tool(
    name="hub_search",
    description=(
        "Search the posts and comments of the place where you are, newest first. What the service"
        " shows only for a while, such as its newest posts, has an id that begins with item:."
    ),
    arguments=HubSearchArguments,
    risk=ToolRisk.READ,
    scope="hub:read",
    run=run,
    resource=lambda asked: asked.community or CHECKED_BY_TOOL,
    is_slow=True,
    timeout=30.0,
)
