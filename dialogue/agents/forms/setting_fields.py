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
SETTINGS = (REPLIES, HOURS, STONES, BUDGETS, PERSONA)

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
