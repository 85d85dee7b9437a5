"""Every value of an agent that a person may turn: its label, a line of help, its unit."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from surfaces.knobs import Knob, Section

DOLLARS = _("US dollars")
PER_MILLION = _("US dollars a million")

REPLIES = Section("replies", _("Replies"), (
    Knob("is_autonomous", _("Answers by itself"), _("Off: it writes nothing unasked.")),
    Knob("mode", _("Mode"),
         _("Review waits for a person before anything is sent. Shadow does all but the sending."
         " Auto sends what passes the checks. Off writes nothing.")),
    Knob("replies_per_day", _("Replies a day"), _("Then it waits for its next day."), _("replies")),
    Knob("replies_per_thread", _("Replies in one thread"),
         _("Then it leaves the thread to others."), _("replies")),
    Knob("spacing_seconds", _("Spacing"), _("Between two of its replies, wherever they go."),
         _("seconds")),
    Knob("tries", _("Tries per comment"), _("After this many it is failed and waits for a person."),
         _("tries")),
    Knob("longest_reply", _("Longest reply"),
         _("Longer words are written again. A surface may allow less."), _("characters")),
    Knob("oldest_days", _("Oldest comment answered"),
         _("Older ones are passed when they come in late. 0 answers them whatever their age."),
         _("days")),
    Knob("answers_runs_once", _("One answer to a run"),
         _("Comments by one author under one parent get one answer that has seen them all.")),
))  # fmt: skip
HOURS = Section("hours", _("Hours"), (
    Knob("timezone", _("Time zone"), _("Its day and its hours are counted in it.")),
    Knob("active_from", pgettext_lazy("a time of day", "From"),
         _("Both empty: at any hour. A start after the end goes over midnight.")),
    Knob("active_to", pgettext_lazy("a time of day", "To"),
         _("Outside its hours it reads and waits.")),
))  # fmt: skip
STONES = Section("stones", _("Stones"), (
    Knob("lays_stones", _("Lays stones"),
         _("It writes posts by itself, as many as each presence allows.")),
    Knob("kernels", _("Kernels"),
         _("Thoughts a post can grow from, one in a line. The one used longest ago comes first.")),
))  # fmt: skip
INTERESTS = Section("interests", _("Interests"), (
    Knob("topics", _("Topics"), _("What it likes to talk of, one in a line.")),
    Knob("communities", _("Communities"), _("Where it looks around, one in a line.")),
    Knob("keywords", _("Keywords"), _("Words that catch its ear, one in a line.")),
    Knob("follows", _("Follows"), _("Handles it listens to, one in a line.")),
))  # fmt: skip
BUDGETS = Section("budgets", _("Budgets"), (
    Knob("money_per_day", _("Money a day"),
         _("Held before a model is asked. Nothing left: it waits."), DOLLARS),
    Knob("money_per_month", _("Money a month"), _("At least as much as a day’s."), DOLLARS),
    Knob("tokens_per_day", _("Tokens a day"), _("What a model reads and writes, together."),
         _("tokens")),
    Knob("tokens_per_month", _("Tokens a month"), _("At least as many as a day’s."), _("tokens")),
    Knob("price_in", _("Fallback price, reading"),
         _("For a model whose price nobody knows. Its costs are marked as a guess."), PER_MILLION),
    Knob("price_out", _("Fallback price, writing"), _("The same, for what the model writes."),
         PER_MILLION),
), _("a day and a month of UTC"))  # fmt: skip
PERSONA = Section("persona", _("Persona"), (
    Knob("name", _("Name"), _("How people here call it.")),
    Knob("persona", _("Who it is"),
         _("How it speaks, what it cares for, what it leaves alone. Every prompt begins with it.")),
))  # fmt: skip
SETTINGS = (REPLIES, HOURS, STONES, INTERESTS, BUDGETS, PERSONA)

VOICE = (Section("voice", _("Who writes"), (
    Knob("lives", _("Lives"),
         _("Here a voice of ours writes. Elsewhere it is woken, and writes by itself.")),
    Knob("voice", _("Voice"),
         _("Scripted fills a template and asks nobody."
           " Model asks the models below, in their order.")),
    Knob("temperature", _("Temperature"), _("0 says the same each time, 1 is lively.")),
    Knob("output_tokens", _("Longest answer"),
         _("What a model may write at most, thinking included."),
         _("tokens")),
    Knob("timeout_seconds", _("Patience"), _("For one request. Then the next model is asked."),
         _("seconds")),
)),)  # fmt: skip

HOUSE = (Section("house", _("Budget of all agents"), (
    Knob("money_per_day", _("Money a day"), _("Of all agents together."), DOLLARS),
    Knob("money_per_month", _("Money a month"), _("At least as much as a day’s."), DOLLARS),
    Knob("tokens_per_day", _("Tokens a day"), _("What models read and write, together."),
         _("tokens")),
    Knob("tokens_per_month", _("Tokens a month"), _("At least as many as a day’s."), _("tokens")),
)),)  # fmt: skip

PRESENCE = (Section("presence", _("How it speaks here"), (
    Knob("mode", _("Mode"), _("Here only. As the agent: what its own settings say holds.")),
    Knob("stones_per_day", _("Stones a day"), _("Posts it may begin here by itself."),
         _("stones")),
    Knob("explore_share", _("Exploring"),
         _("The share of its stones that try something new. The others go on with what worked."),
         "%"),
    Knob("stone_community", _("Community for stones"),
         _("Where its posts go. Empty: the place the service takes for posts without one.")),
)),)  # fmt: skip

LABELS = {knob.name: knob for section in (*SETTINGS, *VOICE) for knob in section.knobs}
