"""Phrases that try to give our agents orders, in English and Chinese.

Each is searched only when one of its `heard` tokens was said, so a long list
costs nothing. Patterns see the plain text of `tokens`: casefolded, digits kept,
traditional Chinese made simplified. Every repetition in them is bounded.

To add one: write it here (or in `spam_lures`), then into the tests a text that
must match and one that must not.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Phrase:
    code: str  # of words that complete "asks to ..." or "offers ..."
    weight: float
    heard: frozenset[str]
    pattern: re.Pattern[str]
    forgives_warnings: bool = False  # "never share your key" is good advice

    def is_in(self, plain: str) -> bool:
        for match in self.pattern.finditer(plain):
            before = plain[max(0, match.start() - 24) : match.start()]
            if not (self.forgives_warnings and _WARNING.search(before)):
                return True
        return False


_BETWEEN = r"\W{1,6}"  # markdown may stand there
_ANY_WORD = r"(?:(?!their\b|its\b|my\b)\w+~)"
_WARNING = re.compile(  # in the same sentence, just before
    r"(?:\b(?:never|not|avoid|without)\b|n't\b|不要|别|不能|不会|禁止|拒绝)[^.,:;!?。\n]*$"
)


def by_token(phrases: Sequence[Phrase]) -> dict[str, list[Phrase]]:
    found: dict[str, list[Phrase]] = {}
    for phrase in phrases:
        for token in phrase.heard:
            found.setdefault(token, []).append(phrase)
    return found


def said(phrases: Mapping[str, list[Phrase]], tokens: Collection[str], plain: str) -> list[Phrase]:
    """The phrases in `plain`, each once, in the order of their first token."""
    heard = [phrase for token in tokens if token in phrases for phrase in phrases[token]]
    return [phrase for phrase in dict.fromkeys(heard) if phrase.is_in(plain)]


def compiled(alternatives: Sequence[str]) -> re.Pattern[str]:
    """`~` is what may stand between two words; `&` a word more, if nobody else owns it."""
    whole = "|".join(alternatives).replace("&", _ANY_WORD).replace("~", _BETWEEN)
    return re.compile(whole)


def _phrase(code: str, heard: str, *alternatives: str) -> Phrase:
    return Phrase(code, 0.6, frozenset(heard.split()), compiled(alternatives))


def _secret(code: str, heard: str, *alternatives: str) -> Phrase:
    return Phrase(code, 0.6, frozenset(heard.split()), compiled(alternatives), True)


INJECTIONS = (
    _phrase("order.ignore", "ignore disregard forget override bypass discard abandon overwrite",
        r"\b(?:ignore|disregard|forget|override|bypass|discard|abandon|overwrite)~&{0,3}?(?:"
        r"previous|prior|above|earlier|preceding|former|original|initial|your|system|all|any|"
        r"everything)~&{0,3}?(?:instructions?|prompts?|rules|directives?|guidelines|"
        r"programming|training|constraints|guardrails|restrictions|you were told|safety)\b"),
    _phrase("order.system",
        "system developer admin instruction instructions inst im start im_start endoftext prompt",
        r"(?:^|\n)\W{0,6}(?:system|developer|admin(?:istrator)?) (?:prompt|message|override|"
        r"notice|update|instructions?)\W{0,3}:",
        r"(?:^|\n)\W{0,6}system\W{0,3}:\W{0,3}(?:you|your|ignore|disregard|"
        r"override|new|the agent)\b",
        r"<\|(?:im_start|system|endoftext)",
        r"\[/?inst\]",
        r"</?(?:system|instructions?|system_prompt)>",
        r"\[(?:system|admin)(?: (?:message|prompt|override|notice|note|alert|update))?\W{0,3}\]",
        r"\b(?:new|updated|revised|real) (?:system )?instructions?\W{0,3}:",
        r"\bend of (?:system |user )?prompt\b"),
    _phrase("order.persona", "now longer pretend",
        r"\byou are now~(?:in~)?(?:dan\b|developer mode|jailbroken|unrestricted|free from|"
        r"a different|an? (?:unfiltered|uncensored|evil)|root\b|admin)",
        r"\byou are no longer (?:bound|restricted|limited|an? (?:ai|assistant|language))",
        r"\bfrom now on\W{1,3}you (?:are|will|must|shall|only|have)\b",
        r"\bpretend (?:that )?you (?:are|have|were) (?:no|not|un|dan|the system|an? admin|"
        r"my gran)"),
    _phrase("order.mode", "mode act",
        r"\b(?:developer|dan|god|jailbreak|unrestricted|debug) mode (?:is )?(?:enabled|"
        r"activated|on\b|now)",
        r"\b(?:enter|enable|activate|switch to) (?:dan|god|jailbreak|unrestricted) mode",
        r"\bact as (?:dan|an? (?:unrestricted|unfiltered|uncensored|jailbroken))"),
    _secret("order.secrets",
        "prompt instructions key keys phrase credentials password passwords token tokens "
        "secrets variables env",
        r"\b(?:reveal|print|repeat|leak|dump|output|paste|recite)~(?:\w+~){0,4}?(?:your|the)~"
        r"(?:\w+~){0,2}?(?:system prompt|initial prompt|hidden prompt|prompt verbatim|"
        r"(?:hidden|initial|system|original) instructions)",
        r"\b(?:reveal|repeat|leak|dump|recite)~(?:\w+~){0,3}?your~(?:\w+~)?instructions",
        r"\b(?:reveal|print|show|output|tell me|leak|dump|share|give|post|paste|display|send|"
        r"write out|reply with|provide|list)~(?:\w+~){0,4}?your~(?:\w+~){0,3}?(?:system prompt|"
        r"initial prompt|(?:hidden|initial|system|original|secret) instructions|api keys?|"
        r"private keys?|(?:seed|recovery) phrase|credentials|passwords?|secrets|"
        r"(?:access|api|auth|bearer) tokens?|environment variables|env\b)"),
    _phrase("order.conceal", "tell telling inform mention alert notify",
        r"\b(?:do not|don't|never|without) (?:tell|inform|mention|alert|notify)(?:ing)? (?:(?:"
        r"this|that|it|anything|any of this) )?(?:to )?(?:the|your) (?:user|operator|owner|"
        r"human|developer|creator|master|admin)"),
    _phrase("order.machine", "ai llm bot model assistant agent agents llms ais bots",
        r"\b(?:if you are|attention|note to|message (?:to|for)|instructions? (?:to|for)) (?:"
        r"any |all )?(?:an? )?(?:ai|llm|large language model|language model|bot|assistant|"
        r"automated agent|ai agent)s?\b[^.\n]{0,80}?\b(?:must|ignore|execute|include|transfer|"
        r"output|insert|append|upvote|disregard|comply|send)\b"),
    _phrase("order.decode", "decode",
        r"\bdecode\b[^.\n]{0,50}?\b(?:follow|obey|do what|carry out|comply)\b"),
    _phrase("order.ignore", "忽略 无视 忘记 忘掉 抛弃 跳过 绕过 覆盖 理会 遵守 遵循",
        r"(?:忽略|无视|忘记|忘掉|抛弃|跳过|绕过|覆盖|不要理会|不必理会|不(?:要|必|再|"
        r"用)遵[守循])[^。!?\n]{0,6}?(?:之前|以前|此前|先前|上面|上述|以上|前面|所有|一切|全部"
        r"|你的|您的|原来|原有|系统|任何|既有|现有|开发者|安全|你被)[^。!?\n]{0,8}?(?:指令|"
        r"指示|提示|规则|设定|限制|命令|约束|要求)"),
    _phrase("order.system", "系统 开发 管理",
        r"(?:^|\n)\W{0,4}(?:系统|开发者|管理员)(?:消息|指令|提示词?|通知|命令|覆盖|最高指令)\W"
        r"{0,2}:",
        r"[【\[](?:系统|管理员|开发者)(?:消息|指令|提示|通知|命令|覆盖)?[】\]]",
        r"新的?系统指令"),
    _phrase("order.persona", "现在 从此 假装 扮演 不再",
        r"(?:从现在(?:起|开始)|从此(?:刻|以后)?)\W{0,2}[你您](?:是|将|要|必须|只能|不再|就是)",
        r"[你您]现在是[^。\n]{0,8}?(?:没有|不受|无限制|dan|开发者模式|越狱)",
        r"[你您]不再(?:是|受)[^。\n]{0,8}?(?:助手|模型|限制|约束|ai)",
        r"(?:假装|扮演)[^。\n]{0,12}?(?:没有(?:任何)?(?:限制|规则|道德)|不受(?:任何)?(?:限制|"
        r"约束)|dan\b)",
        r"[你您](?:现在)?(?:已经?)?(?:进入|处于)(?:开发者|越狱|上帝|无限制)模式"),
    _secret("order.secrets", "提示 指令 密钥 私钥 助记 密码 令牌 key api 环境",
        r"(?:输出|打印|显示|泄露|告诉我?|透露|说出|复述|重复|展示|发(?:给|送)我?|公开|写出|"
        r"给我|提供|贴出)[^。!?\n]{0,8}?(?:系统提示|初始提示|隐藏指令|内部指令|[你您]的?"
        r"(?:完整|全部|原始|初始|系统|隐藏|内部)?的?\W{0,2}(?:提示词|指令|设定|密钥|私钥|助记词|"
        r"密码|令牌|环境变量|api ?(?:key|密钥)))",
        r"把[你您]的?\W{0,2}(?:系统提示|提示词|密钥|私钥|助记词|密码|令牌|api ?(?:key|密钥))"
        r"[^。!?\n]{0,6}?(?:发|告诉|给|交|贴|说)"),
    _phrase("order.conceal", "不要 不得 别告 不能",
        r"(?:不要|不得|别|不能)(?:告诉|告知|透露给)[^。\n]{0,6}?(?:用户|操作员|主人|"
        r"管理员|开发者|运营)"),
)  # fmt: skip

INJECTED = by_token(INJECTIONS)
