"""What looks like words for people and is none: whose literals are not translated."""

from __future__ import annotations

import re

# Words for machines, for models, for surfaces, or for the command line.
SILENT = {
    "surfaces": frozenset(
        ["admin", "http", "checkup", "looping", "tokens", "spam_lures", "spam_phrases", "sealing"]
    ),
    "dialogue": frozenset(
        [
            "admin",
            "prompting",
            "quoting",
            "plain_yaml",
            "value_kinds",
            "agent_schema",
            "agent_files",
            "agent_plans",
            "checkup",
            "wake_words",
            "tasks",
        ]
    ),
}
SILENT_FOLDERS = frozenset(["migrations", "management", "voice", "earning", "templatetags"])
SILENT_FILES = frozenset(
    f"surfaces/adapters/moltbook/{name}.py" for name in ("challenge", "vocabulary", "counting")
)
SPEAKING = frozenset(f"dialogue/voice/{name}.py" for name in ("failures", "base", "model"))

WORD = re.compile(r"[A-Z][a-z]+(?:[-’'][a-z]+)?|[A-Z]{2,4}")  # one word, as labels begin
PROSE = re.compile(
    r"[A-Za-z’'“][A-Za-z’'-]*[,;:]? .*[A-Za-z]|[a-z]+:[a-z]+, .*\.$"
    r"|.*\{\w+\}.* .*[A-Za-z]{3}|.*[a-z]{3}.* \{\w+\}"
)
CODE = re.compile(
    r"\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|CREATE|NOTIFY|LOCK|VALUES|UNION|ORDER BY)\b"
    r"|^\s|\s{2}|[<>\\|=]|__|^[\w.-]+/|^\W+$|%[sd(]|^btn|\bhttp-"
    r"|^[a-z]+-[a-z{]+\S*( [a-z]+-[a-z{]+\S*)*$|^event: |^retry: |^draft:|_\w* \{"
)
# Words that look like ours and are a machine's.
MACHINE = frozenset(
    [
        "GET",
        "POST",
        "ASC",
        "DESC",
        "OPEN",
        "NFKC",
        "UTC",
        "Authorization",
        "Bearer {token}",
        "Cursor",
        "Column",
        "Colloquy",
        "Moltbook",
        "JSON schema",
        "English",
        "简体中文",
        "no-store, no-transform",
        # The comment that a voice is tried with.
        "a reader",
        "You say the tide table leaves something out. But it has been right every day this "
        "year. What would you add, and who would read it?",
        "nofollow noopener ugc",
    ]
)
# What the ledger calls a deed. It is shown as words.
DEED = re.compile(
    r"(account|agent|api_key|brain|demo|desk|draft|house|key|message|notice|operator|pause|presence|role"
    r"|sign_in|signed|spam|stone|surface|view|voice|wake|worker)\.[a-z_]{3,}"
)
# Keyword arguments and functions whose words nobody is shown.
DEAF = frozenset(
    [
        "name",
        "db_table",
        "app_label",
        "related_name",
        "css",
        "icon",
        "url",
        "query",
        "fields",
        "select_related",
        "condition",
        "attrs",
        "verbose_name",
        "verbose_name_plural",
        "widget",
        "rel",
        "indexes",
        "template_name",
    ]
)
DEAF_CALLS = frozenset(
    [
        "compile",
        "debug",
        "info",
        "warning",
        "exception",
        "execute",
        "getLogger",
        "cast",
        "TypeVar",
        "reverse",
        "getattr",
        "setattr",
        "hasattr",
        "Index",
        "CheckConstraint",
        "UniqueConstraint",
        "only",
        "defer",
        "values",
        "values_list",
        "order_by",
        "filter",
        "exclude",
        "annotate",
        "import_string",
        "url",
        "path",
        "render",
        "redirect",
        "RawSQL",
        "Func",
    ]
)
# Whose columns the ledger names when somebody changes them.
WITH_COLUMNS = frozenset(
    [f"dialogue/models/{name}.py" for name in ("agent", "presence", "settings", "wake")]
    + [f"surfaces/models/{name}.py" for name in ("account", "house", "operator", "surface")]
)
PHRASES = frozenset(["spam_lures", "spam_phrases"])
NAMING = frozenset(["_lure", "_phrase", "_secret"])
PIECED = (  # put together where no single literal says them
    "{n} link, {new} to domains never seen here",
    "{n} links, {new} to domains never seen here",
    "{n} word split by invisible characters",
    "{n} words split by invisible characters",
    "{n} other author",
    "{n} other authors",
    "demo made",
    "set",
    "{n} link",
    "{n} links",
)
SAYING = frozenset(["Reason"])  # whose single words are shown, too
WITH_FACTS = frozenset(["record"])  # their keyword arguments are shown, by name
MARKED = frozenset(  # found by `marked`, with what they are said of
    [
        "_",
        "gettext",
        "gettext_lazy",
        "later",
        "ngettext",
        "ngettext_lazy",
        "pgettext",
        "pgettext_lazy",
        "npgettext",
    ]
)
STRINGS = frozenset(  # what is done to a text that stays what it is called
    [
        "capitalize",
        "lower",
        "upper",
        "strip",
        "rstrip",
        "lstrip",
        "join",
        "replace",
        "removeprefix",
        "removesuffix",
        "title",
    ]
)
MADE_OF = frozenset(
    ["str", "repr", "len", "plain", "sentence", "abs", "round", "int", "next", "min", "max"]
)
