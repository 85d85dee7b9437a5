"""The settings of agents and presences: labels, help, units."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from surfaces.accounts.forms import MODE_HELP
from surfaces.settings.fields import Section, SettingField

DOLLARS = _("US dollars")
PER_MILLION = _("US dollars a million")

REPLIES = Section("replies", _("Replies"), (
    SettingField("is_autonomous", _("Automatic replies"),
        _("Off: no activation starts and nothing is written.")),
    SettingField("mode", _("Mode"), MODE_HELP),
    SettingField("replies_per_day", _("Replies a day"),
        _("Once reached, comments wait until the next day."), _("replies")),
    SettingField("replies_per_thread", _("Replies per thread"),
        _("Once reached, further comments in the thread are passed."), _("replies")),
    SettingField("spacing_seconds", _("Minimum interval"),
        _("Between two replies of this agent, across all accounts."), _("seconds")),
    SettingField("tries", _("Attempts per comment"),
        _("After this many attempts the reply is marked failed and needs review."),
        _("attempts")),
    SettingField("longest_reply", _("Maximum length"),
        _("A longer reply is written again. A surface may allow less."), _("characters")),
    SettingField("oldest_days", _("Maximum comment age"),
        _("Older comments are passed. 0: comments of any age are answered."), _("days")),
    SettingField("answers_runs_once", _("One reply to consecutive comments"),
        _("Comments by one author under the same parent get one reply that covers all of them.")),
))  # fmt: skip
ACTIVATIONS = Section("activations", _("Activations"), (
    SettingField("notifications_per_run", _("Notifications per activation"),
        _("At most so many comments are looked at in one activation."), _("notifications")),
    SettingField("responds_to_replies", _("Respond to replies"),
        _("Off: replies and comments on its posts are passed.")),
    SettingField("responds_to_mentions", _("Respond to mentions"),
        _("Off: comments and posts that only name the account are passed.")),
    SettingField("responds_to_dms", _("Respond to direct messages"),
        _("Off: direct messages are passed.")),
    SettingField("posts_per_day", _("Posts a day"),
        _("All posts, stones included, across all accounts."
          " Each account has a limit of its own, too."),
        _("posts")),
    SettingField("max_iterations", _("Requests per activation"),
        _("To models. At any of these limits the activation ends; what it wrote is kept."),
        _("requests")),
    SettingField("max_tool_calls", _("Tool calls per activation"),
        _("0: no tool is offered."), _("calls")),
    SettingField("tokens_per_run", _("Tokens per activation"), _("Input and output together."),
        _("tokens")),
    SettingField("money_per_run", _("Money per activation"),
        _("A request that could exceed it is not sent."), DOLLARS),
    SettingField("seconds_per_run", _("Time per activation"),
        _("Working time. Time spent waiting for approval does not count."), _("seconds")),
))  # fmt: skip
TOOLS = Section("tools", _("Tools and approvals"), (
    SettingField("grants", _("Grants"),
        _("One per line: service:scope or service:scope:resource, such as hub:read or"
          " hub:write:tides. * is any. A leading ! denies and wins. Empty: no tools.")),
    SettingField("approval_mode", _("A call that needs approval"),
        _("Waits for an operator; or is skipped, and the model is told; or is denied unless a rule"
          " allows it.")),
    SettingField("on_read", _("Tools that read"), _("Such as search and threads.")),
    SettingField("on_write", _("Tools that write in the agent's own store"),
        _("Such as its memory.")),
    SettingField("on_publish", _("Tools that publish"),
        _("By the mode: the call writes a draft, which the mode of the account treats like any"
          " other.")),
    SettingField("on_execute", _("Tools that run a program"), _("Ask means: an operator decides.")),
    SettingField("on_external", _("Tools that reach another program"),
        _("Ask means: an operator decides.")),
    SettingField("approval_hours", _("Time for approval"),
        _("A call that nobody decides in this time is denied."), _("hours")),
))  # fmt: skip
MEMORY = Section("memory", _("Memory"), (
    SettingField("has_memory", _("Use memory"),
        _("Prompts contain matching notes. To write them, it needs the grant memory:write.")),
    SettingField("memory_kilobytes", _("Size"),
        _("Of all notes. When it is full, the least trusted are forgotten first, of those the"
          " oldest."), _("kB")),
    SettingField("memory_items", _("Notes in a prompt"), _("At most so many."), _("notes")),
    SettingField("memory_strategy", _("Which notes"),
        _("There is no embedding search here: agents imported with it get notes by words in"
          " common.")),
))  # fmt: skip
EXPLORATION = Section("exploration", _("Exploration"), (
    SettingField("explores", _("Explore"),
        _("Looks for posts of other people to answer, when nothing waits for it.")),
    SettingField("explore_frequency", _("How often"),
        _("At most one exploration each time.")),
    SettingField("stale_minutes", _("Idle time"),
        _("So long without an activation before it explores, if it explores when idle."),
        _("minutes")),
    SettingField("explores_questions", _("Answer questions"), _("Posts that ask something.")),
    SettingField("explores_discussions", _("Join discussions"), _("Posts that ask nothing.")),
    SettingField("min_confidence", _("Minimum confidence"),
        _("It keeps silent if it is less sure that its answer adds something. 0: never.")),
    SettingField("topics", _("Topics"), _("What it cares about, one per line.")),
    SettingField("communities", _("Communities"), _("Where it looks, one per line.")),
    SettingField("keywords", _("Keywords"), _("Words it looks for, one per line.")),
    SettingField("follows", _("People"), _("Accounts whose posts it looks at, one per line.")),
))  # fmt: skip
HOURS = Section("hours", _("Active hours"), (
    SettingField("timezone", _("Time zone"), _("For its days and its active hours.")),
    SettingField("active_from", pgettext_lazy("a time of day", "From"),
        _("Both empty: always active. A start after the end runs past midnight.")),
    SettingField("active_to", pgettext_lazy("a time of day", "To"),
        _("Outside these hours comments are collected and wait.")),
))  # fmt: skip
STONES = Section("stones", _("Stones"), (
    SettingField("lays_stones", _("Write posts"),
        _("Writes posts on its own, up to the daily number of each assigned account.")),
    SettingField("kernels", _("Topic seeds"),
        _("For posts, one per line. The least recently used one is next.")),
))  # fmt: skip
BUDGETS = Section("budgets", _("Budgets"), (
    SettingField("money_per_day", _("Money a day"),
        _("Reserved before each request to a model. Used up: the agent waits."), DOLLARS),
    SettingField("money_per_month", _("Money a month"), _("At least the daily amount."), DOLLARS),
    SettingField("tokens_per_day", _("Tokens a day"), _("Input and output together."),
        _("tokens")),
    SettingField("tokens_per_month", _("Tokens a month"), _("At least the daily number."),
        _("tokens")),
    SettingField("price_in", _("Fallback price, input"),
        _("For models without a known price. Their costs are marked as estimates."), PER_MILLION),
    SettingField("price_out", _("Fallback price, output"),
        _("For models without a known price. Their costs are marked as estimates."), PER_MILLION),
), _("days and months in UTC"))  # fmt: skip
PERSONA = Section("persona", _("Persona"), (
    SettingField("name", _("Name"), _("Shown on these pages only.")),
    SettingField("persona", _("System prompt"),
        _("How the agent speaks, what it cares about, what it leaves alone."
          " Every prompt begins with it.")),
))  # fmt: skip
SETTINGS = (REPLIES, ACTIVATIONS, TOOLS, MEMORY, EXPLORATION, HOURS, STONES, BUDGETS, PERSONA)

VOICE = (Section("voice", _("Voice"), (
    SettingField("lives", _("Replies are written by"),
        _("This instance uses the voice below. An external agent is notified by webhook.")),
    SettingField("voice", _("Voice"),
        _("Scripted: templates, no model. Model: asks the models below in their order.")),
    SettingField("temperature", _("Temperature"), _("0: always the same reply. 1: varied.")),
    SettingField("output_tokens", _("Max tokens"),
        _("Output of one request, reasoning included."), _("tokens")),
    SettingField("timeout_seconds", _("Timeout"),
        _("For one request. After it the next model is asked."), _("seconds")),
)),)  # fmt: skip

PRESENCE = (Section("presence", _("Assigned account"), (
    SettingField("mode", _("Mode"), _("For this account only.")),
    SettingField("stones_per_day", _("Stones a day"),
        _("Maximum number of posts it writes here on its own."), _("stones")),
    SettingField("explore_share", _("Exploration"),
        _("Share of stones that start from a topic seed. The others continue one of our threads"
          " that people answered."), "%"),
    SettingField("stone_community", _("Community for stones"),
        _("Where its posts go. Empty: the default community of the service.")),
)),)  # fmt: skip
