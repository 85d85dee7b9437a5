"""Normalise and tokenize text for the spam filter.

Only the first `LOOKED_AT` characters are read, in time linear in them. Tokens,
hosts and fingerprints never hold a NUL or a lone surrogate, so PostgreSQL can
store them whatever a stranger wrote.
"""

import re
import unicodedata
from dataclasses import dataclass
from hashlib import blake2b
from ipaddress import ip_address

LOOKED_AT = 20_000  # characters
MOST_TOKENS = 400  # distinct ones, in order of appearance
LONGEST_TOKEN = 200  # characters, as the column holds
FEWEST_LETTERS = 12  # a shorter text has no fingerprint: anybody may say "thanks!"
_CHUNK = 1_000  # NFKC is quadratic in runs of combining marks, so it gets short pieces

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = "a-zA-Z\u00c0-\u024f\u0370-\u04ff\u3400-\u9fff"
_JOINERS = "\u200b-\u200f\u2060-\u2064\u180e\ufeff\u034f\u115f\u1160\u3164\uffa0"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS = "\U000e0000-\U000e007f"

# Persian, Indic and emoji need joiners; between two of these letters nobody does.
_INSIDE_WORD = re.compile(f"(?<=[{_LETTER}])[{_JOINERS}]+(?=[{_LETTER}])")
# Tags spell text nobody sees, except behind a black flag, where they name a country.
_SMUGGLED = re.compile(f"(?<![\U0001f3f4{_TAGS}])[{_TAGS}]+|[{_SELECTORS}]{{3,}}|[\u202d\u202e]")
_TURNED = re.compile("[\u202a-\u202c\u2066-\u2069]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufefc]")
# Only letters that pass for Latin ones: Russians do write "GPTшка".
_LOOKALIKES = str.maketrans("асеорхуіјѕ", "aceopxyijs")
_TWO_ALPHABETS = re.compile("[a-z][асеорхуіјѕ]|[асеорхуіјѕ][a-z]")

_ODD = re.compile(f"[{_JOINERS}{_BIDI}{_SELECTORS}{_TAGS}]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")

# The traditional characters our phrases need, so that each is written only once.
_TRADITIONAL = (
    "無視記規則設統開發員輸顯訴詞鑰碼從現關領費點擊賺賠個買幣錢號電報說複復給貸穩單職證請"
    "後過須執網場賭線資獎贈進頁轉帳賬額時讚贊萬裝沒制約束遊戲遵掃約這為對動態錄聯繫體"
)
_SIMPLIFIED = (
    "无视记规则设统开发员输显诉词钥码从现关领费点击赚赔个买币钱号电报说复复给贷稳单职证请"
    "后过须执网场赌线资奖赠进页转账账额时赞赞万装没制约束游戏遵扫约这为对动态录联系体"
)


def _undressing() -> dict[int, str | None]:
    table: dict[int, str | None] = {
        **dict(zip(map(ord, _TRADITIONAL), _SIMPLIFIED, strict=True)),
        ord("\u2018"): "'",
        ord("\u2019"): "'",
        0xAD: None,
    }
    hidden = re.compile(f"[{_JOINERS}{_BIDI}{_SELECTORS}]")
    for code in (*range(0x300, 0x4000), *range(0xFE00, 0x10000), *range(0xE0100, 0xE01F0)):
        if hidden.match(chr(code)):
            table[code] = None
    for code in range(0xE0000, 0xE0080):  # show what the tags spell
        table[code] = chr(code - 0xE0000) if 0xE0020 <= code < 0xE007F else None
    return table


_UNDRESSED = _undressing()

# Names that are no file, attribute or package when they stand alone...
_PLAIN_ENDS = "com|net|org|xyz|ru|cn|biz|vip|club|gg|ly|icu|tk|bet|cash|casino|poker|finance"
# ...and names that are links only with a path behind them ("window.top").
_PATH_ENDS = (
    "io|ai|me|co|cc|top|info|click|link|live|store|app|dev|pro|fun|win|site|shop|online|uk|de|fr"
)
_LINK = re.compile(
    r"(?:https?|ftp)://([\w.:@%~\[\]-]{1,253})[!#-&*-;=?-Z\\^_a-z|~]*"
    r"|(?<![a-z0-9@._/-])((?:[a-z0-9-]{1,63}\.){1,4}"
    rf"(?:(?:{_PLAIN_ENDS})(?![a-z0-9_(-]|\.[a-z0-9])|(?:{_PATH_ENDS})(?=/[a-z0-9])))"
    r"(?:/[!#-&*-;=?-Z\\^_a-z|~]*)?"
    r"|(?<![a-z0-9@._/-])(www\.[a-z0-9-]{1,63}\.[a-z0-9.-]{2,99})"
)
_ANY_LINK = re.compile(rf"\.(?:{_PLAIN_ENDS}|{_PATH_ENDS})|://|www\.")
_FOREIGN = re.compile(f"[{_CJK}]")
_OF_NOBODY = re.compile(
    r"(?:.*\.)?(?:localhost|example|example\.(?:com|org|net)|test|local|internal|invalid)"
)
_NUMERIC = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+){0,3}")
_DIGITS = re.compile(r"\d+")
_ASCII_WORD = re.compile(r"[a-z0-9]{2,}(?:'[a-z]{1,3})?|0")
_WORD = re.compile(rf"([{_CJK}]+)|((?:[^\W_{_CJK}]){{2,}}(?:'[a-z]{{1,3}})?|0)")
_LETTERS = re.compile(r"[^\W_]+")
_MENTION = re.compile(r"@[\w.-]+")


@dataclass(frozen=True, slots=True)
class TokenizedText:
    raw: str  # its beginning, as it was written
    plain: str  # nothing hidden, NFKC, casefolded, quotes straight
    hosts: tuple[str, ...]  # one per link, in order
    words: tuple[str, ...]  # all of them, repeated as they were said
    tokens: tuple[str, ...]  # distinct: hosts, then words
    length: int  # of the whole text
    inside_words: int = 0  # invisible characters that split a word
    smuggled: int = 0  # invisible writing, or writing turned round
    two_alphabets: int = 0  # letters that pass for their Latin neighbours


def read(text: str) -> TokenizedText:
    raw = text[:LOOKED_AT]
    if raw.isascii():
        return _reading(raw, raw.lower(), len(text))

    inside_words = smuggled = two_alphabets = 0
    if _ODD.search(raw):
        inside_words = len(_INSIDE_WORD.findall(raw))
        smuggled = len(_SMUGGLED.findall(raw))
        if not _RIGHT_TO_LEFT.search(raw):
            smuggled += len(_TURNED.findall(raw))
    plain = _plain(raw)
    if _CYRILLIC.search(plain) and (mixed := _TWO_ALPHABETS.findall(plain)):
        two_alphabets = len(mixed)
        plain = plain.translate(_LOOKALIKES)
    return _reading(raw, plain, len(text), inside_words, smuggled, two_alphabets)


def tokenize(text: str) -> list[str]:
    """Distinct tokens, links first. Numbers are all `0`; Chinese comes in pairs."""
    return list(read(text).tokens[:MOST_TOKENS])


def tokens_to_learn(text: str) -> tuple[str, ...]:
    """What one decision trains. Store it with the decision: only so is undo exact."""
    return tuple(sorted(tokenize(text)))


def domains(text: str) -> frozenset[str]:
    return frozenset(read(text).hosts)


def fingerprint(text: str) -> str:
    """The same for texts that differ only in dress, numbers, mentions or link paths."""
    plain = _plain(text[:LOOKED_AT])
    plain = _LINK.sub(lambda link: f" {_host(link)} ", plain)
    plain = _DIGITS.sub("0", _MENTION.sub(" ", plain))
    said = "".join(_LETTERS.findall(plain))
    if len(said) - said.count("0") < FEWEST_LETTERS:
        return ""
    return blake2b(said.encode(), digest_size=16).hexdigest()


def _plain(raw: str) -> str:
    if raw.isascii():
        return raw.lower()
    shown = raw.translate(_UNDRESSED)
    pieces = (shown[at : at + _CHUNK] for at in range(0, len(shown), _CHUNK))
    return "".join(unicodedata.normalize("NFKC", piece) for piece in pieces).casefold()


def _reading(raw: str, plain: str, length: int, *tricks: int) -> TokenizedText:
    hosts: list[str] = []

    def take(link: re.Match[str]) -> str:
        if host := _host(link):
            hosts.append(host)
        return " "

    rest = _LINK.sub(take, plain) if _ANY_LINK.search(plain) else plain
    rest = _DIGITS.sub("0", rest)
    words = tuple(_ASCII_WORD.findall(rest) if rest.isascii() else _words(rest))
    tokens = dict.fromkeys([f"url:{host}" for host in hosts])
    tokens.update(dict.fromkeys(words))
    kept = tuple(tokens)
    if max(map(len, kept), default=0) > LONGEST_TOKEN:
        kept = tuple(dict.fromkeys([token[:LONGEST_TOKEN] for token in kept]))
    return TokenizedText(raw, plain, tuple(hosts), words, kept, length, *tricks)


def _words(plain: str) -> list[str]:
    words: list[str] = []
    for run, word in _WORD.findall(plain):
        if word or len(run) == 1:
            words.append(word or run)
        else:
            words += [run[at : at + 2] for at in range(len(run) - 1)]
    return words


def _host(link: re.Match[str]) -> str:
    """Whom a link leads to; nothing for this machine and for names made for examples."""
    host = (link[1] or link[2] or link[3]).rpartition("@")[2]
    host = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    foreign = _FOREIGN.search(host)
    if foreign and "." in host[: foreign.start()]:
        host = host[: foreign.start()]  # a Chinese sentence goes on without a space
    host = host.strip(".-%~[]@").removeprefix("www.")
    return "" if _OF_NOBODY.fullmatch(host) or is_private(host) else host


def is_address(host: str) -> bool:
    """A number where a name should stand, in any notation browsers take."""
    return ":" in host or bool(_NUMERIC.fullmatch(host))


def is_private(host: str) -> bool:
    if not is_address(host):
        return False
    try:
        return not ip_address(host).is_global
    except ValueError:
        return False
