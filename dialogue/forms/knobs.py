"""Every value a person may turn: its label, one line of help, its unit. Nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Knob:
    name: str
    label: str
    help: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: str
    knobs: tuple[Knob, ...]
    note: str = ""


DOLLARS = "US dollars"
PER_MILLION = "US dollars a million"

REPLIES = Section("replies", "Replies", (
    Knob("is_autonomous", "Answers by itself", "Off: it writes nothing unasked."),
    Knob("mode", "Mode",
         "Review waits for a person before anything is sent. Shadow does all but the sending."
         " Auto sends what passes the checks. Off writes nothing."),
    Knob("replies_per_day", "Replies a day", "Then it waits for its next day.", "replies"),
    Knob("replies_per_thread", "Replies in one thread", "Then it leaves the thread to others.",
         "replies"),
    Knob("spacing_seconds", "Spacing", "Between two of its replies, wherever they go.",
         "seconds"),
    Knob("tries", "Tries per comment", "After this many it is failed and waits for a person.",
         "tries"),
    Knob("longest_reply", "Longest reply",
         "Longer words are written again. A surface may allow less.", "characters"),
    Knob("oldest_days", "Oldest comment answered",
         "Older ones are passed when they come in late. 0 answers them whatever their age.",
         "days"),
    Knob("answers_runs_once", "One answer to a run",
         "Comments by one author under one parent get one answer that has seen them all."),
))  # fmt: skip
HOURS = Section("hours", "Hours", (
    Knob("timezone", "Time zone", "Its day and its hours are counted in it."),
    Knob("active_from", "From",
         "Both empty: at any hour. A start after the end goes over midnight."),
    Knob("active_to", "To", "Outside its hours it reads and waits."),
))  # fmt: skip
STONES = Section("stones", "Stones", (
    Knob("lays_stones", "Lays stones",
         "It writes posts by itself, as many as each presence allows."),
    Knob("kernels", "Kernels",
         "Thoughts a post can grow from, one in a line. The one used longest ago comes first."),
))  # fmt: skip
INTERESTS = Section("interests", "Interests", (
    Knob("topics", "Topics", "What it likes to talk of, one in a line."),
    Knob("communities", "Communities", "Where it looks around, one in a line."),
    Knob("keywords", "Keywords", "Words that catch its ear, one in a line."),
    Knob("follows", "Follows", "Handles it listens to, one in a line."),
))  # fmt: skip
BUDGETS = Section("budgets", "Budgets", (
    Knob("money_per_day", "Money a day",
         "Held before a model is asked. Nothing left: it waits.", DOLLARS),
    Knob("money_per_month", "Money a month", "At least as much as a day’s.", DOLLARS),
    Knob("tokens_per_day", "Tokens a day", "What a model reads and writes, together.", "tokens"),
    Knob("tokens_per_month", "Tokens a month", "At least as many as a day’s.", "tokens"),
    Knob("price_in", "Fallback price, reading",
         "For a model whose price nobody knows. Its costs are marked as a guess.", PER_MILLION),
    Knob("price_out", "Fallback price, writing", "The same, for what the model writes.",
         PER_MILLION),
), "a day and a month of UTC")  # fmt: skip
PERSONA = Section("persona", "Persona", (
    Knob("name", "Name", "How people here call it."),
    Knob("persona", "Who it is",
         "How it speaks, what it cares for, what it leaves alone. Every prompt begins with it."),
))  # fmt: skip
SETTINGS = (REPLIES, HOURS, STONES, INTERESTS, BUDGETS, PERSONA)

VOICE = (Section("voice", "Who writes", (
    Knob("lives", "Lives",
         "Here a voice of ours writes. Elsewhere it is woken, and writes by itself."),
    Knob("voice", "Voice",
         "Scripted fills a template and asks nobody. Model asks the models below, in their order."),
    Knob("temperature", "Temperature", "0 says the same each time, 1 is lively."),
    Knob("output_tokens", "Longest answer", "What a model may write at most, thinking included.",
         "tokens"),
    Knob("timeout_seconds", "Patience", "For one request. Then the next model is asked.",
         "seconds"),
)),)  # fmt: skip

HOUSE = (Section("house", "Budget of all agents", (
    Knob("money_per_day", "Money a day", "Of all agents together.", DOLLARS),
    Knob("money_per_month", "Money a month", "At least as much as a day’s.", DOLLARS),
    Knob("tokens_per_day", "Tokens a day", "What models read and write, together.", "tokens"),
    Knob("tokens_per_month", "Tokens a month", "At least as many as a day’s.", "tokens"),
)),)  # fmt: skip

LABELS = {knob.name: knob for section in (*SETTINGS, *VOICE) for knob in section.knobs}
