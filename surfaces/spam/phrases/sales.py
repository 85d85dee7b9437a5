"""Phrases of people who sell: coins, clicks and easy money, in English and Chinese.

One alone is a hint, not a proof: whoever asks whether an airdrop is a scam says
"airdrop" too. The rules of `spam_phrases` hold here as well.
"""

from surfaces.spam.phrases.injections import Phrase, by_token, compiled


def _lure(code: str, weight: float, heard: str, *alternatives: str) -> Phrase:
    return Phrase(code, weight, frozenset(heard.split()), compiled(alternatives))


LURES = (
    _lure("lure.coins", 0.3, "airdrop airdrops giveaway presale memecoin",
        r"\b(?:airdrops?|giveaway|presale|memecoin)\b"),
    _lure("lure.claim", 0.65, "claim claiming redeem won winner selected",
        r"\b(?:claim|redeem|claiming)~(?:\w+~){0,4}?(?:airdrop|tokens?|rewards?|nfts?|bonus|"
        r"prize|gift|coins?|eth|sol|usdt|btc|spins)\b",
        r"\byou(?:'ve| have)? (?:been )?(?:won|selected|chosen)\b[^.\n]{0,50}?(?:prize|reward|"
        r"winner|gift|bonus|\$|iphone|claim)",
        r"\bcongratulations\b[^\n]{0,30}?\b(?:winner|won)\b"),
    _lure("lure.profile", 0.5, "profile bio channel page",
        r"\b(?:visit|check|check out|see|view|look at|click(?: on)?|go to)~my~(?:profile|bio|"
        r"channel|page)\b",
        r"\blink in (?:my |the )?(?:bio|profile)\b"),
    _lure("lure.elsewhere", 0.45, "dm telegram whatsapp inbox wechat signal contact",
        r"\b(?:dm|inbox) me\b",
        r"\b(?:contact|message|text|reach|write|add|join|hit)(?: \w+){0,3} (?:on|via|at|our|my"
        r"|through) (?:telegram|whatsapp|wechat|signal)\b",
        r"\b(?:whatsapp|telegram|wechat)\W{0,3}(?:\+\d|@|:)",
        r"\b(?:join|our|my)(?: \w+){0,2} (?:whatsapp|telegram|wechat|signal)\b"),
    _lure("lure.money", 0.65,
        "guaranteed double earn earned earning income profit profits returns money 0x passive "
        "daily invest investment roi 0k",
        r"\bguaranteed (?:\w+ )?(?:returns?|profits?|income|roi)\b",
        r"\bdouble your (?:money|btc|eth|bitcoins?|crypto|investment|deposit|coins?|income)\b",
        r"\bpassive income\b",
        r"\b(?:earn|make|made|earned|earning|making)(?: \w+){0,3} (?:\$|€|£)\s?\d[\d,.]*k?\+?"
        r"\W{0,2}(?:\w+ )?(?:a|per|every|each|daily|weekly|from home|in)\b",
        r"\b(?:10|20|50|100|500|1000)x (?:gem|returns?|gains?|profits?|potential|your|soon|"
        r"guaranteed|coin)",
        r"\bmake money (?:fast|online|from home|while)",
        r"\b\d{1,4}% (?:daily|weekly|monthly|guaranteed|roi|returns?|profit)",
        r"\b(?:daily|weekly) (?:profits?|payouts?)\b"),
    _lure("lure.wallet", 0.65, "wallet wallets seed metamask eth btc sol usdt",
        r"\b(?:connect|validate|verify|sync|link|restore) (?:your )?(?:crypto )?wallets?\b",
        r"\bsend (?:\w+ ){0,3}?[\d.]+ ?(?:eth|btc|sol|usdt)\b",
        r"\b(?:enter|send|share|type) (?:in )?(?:your )?(?:seed|recovery) phrase"),
    _lure("lure.coin", 0.35, "moon presale mint pump ca gem buy solana coin token listing",
        r"\bto the moon\b",
        r"\b(?:mint|buy|ape in|get in) (?:now|early|before)\b",
        r"\bca\W{0,3}(?:0x|[1-9a-hj-np-z]{32,44}\b)",
        r"\bnext (?:\w+ )?(?:gem|100x|1000x)\b",
        r"\blive on (?:solana|pump)"),
    _lure("lure.vices", 0.7,
        "casino betting slots jackpot viagra cialis escort escorts porn sexy hookup onlyfans "
        "nudes pharmacy singles spins",
        r"\b(?:online|best|top|crypto|free)(?: \w+)? (?:casino|betting|slots)\b",
        r"\bcasino (?:bonus|games|site)",
        r"\b(?:free spins|jackpot (?:now|today|bonus))\b",
        r"\b(?:viagra|cialis|escorts?|onlyfans|nudes|hookups?)\b",
        r"\b(?:hot|sexy|local) (?:girls|singles|women|babes)\b",
        r"\bonline pharmacy\b"),
    _lure("lure.attention", 0.45,
        "followers backlinks seo upvote upvotes follow likes subscribers traffic",
        r"\b(?:buy|cheap|get|gain|real|free|\d+k?) (?:\w+ ){0,3}?(?:followers|backlinks|"
        r"upvotes|likes|subscribers)\b",
        r"\bseo (?:service|expert|agency|package)s?\b",
        r"\bfollow (?:for|4) follow\b",
        r"\bfollow me (?:back|and)\b",
        r"\bupvote (?:my|me|this and|for upvote)\b",
        r"\b(?:boost|rank)(?: \w+){0,3} (?:ranking|traffic|#1)\b",
        r"\b(?:first page of|rank on) google\b"),
    _lure("lure.recovery", 0.65, "recovery recovered recover hacker hackers hack loan loans",
        r"\brecover(?:ed|y|ing)?\b[^.\n]{0,40}?\b(?:lost|stolen|scammed|my|your) (?:\w+ )?(?:"
        r"bitcoins?|crypto|funds|money|wallet|usdt)\b",
        r"\b(?:recovery|ethical) (?:expert|hackers?|agent)\b",
        r"\b(?:instant|quick|easy) loans?\b",
        r"\bloans? (?:approved|without)\b"),
    _lure("lure.haste", 0.25, "limited hurry act miss spots expires urgent today",
        r"\blimited (?:time|spots|slots|offer|supply)\b",
        r"\bact (?:now|fast)\b",
        r"\bhurry\b",
        r"\bdon't miss (?:out|this|it)\b",
        r"\bonly \d+ (?:spots|slots|left|places)\b",
        r"\b(?:ends|expires) (?:today|soon)"),
    _lure("lure.cheap", 0.35,
        "discount replica cheap order sale promo subscription wholesale price",
        r"\b\d{2} ?% (?:off|discount)\b",
        r"\b(?:replica|wholesale) (?:watches|bags|price)",
        r"\bpromo code\b",
        r"\b(?:order|buy|shop) now\b",
        r"\bbest prices?\b",
        r"\bcheap(?:est)? (?:\w+ )?(?:accounts?|keys|subscriptions?|price)"),
    _lure("lure.script", 0.25, "curl wget iex powershell",
        r"\b(?:curl|wget)\b[^\n|]{0,200}\|\s{0,3}(?:sudo )?(?:ba|z)?sh\b",
        r"\biex\b[^\n]{0,60}http"),
    _lure("lure.elsewhere", 0.5,
        "微信 加微 加我 电报 威信 薇信 vx vx0 qq 私聊 私信 加群 进群 飞机 qq0 扫码 客服",
        r"(?:(?<!增)加(?![上入载密强])|联系|添加|咨询)[^。\n]{0,4}?(?:微信|威信|薇信|vx|qq|电报|飞机|telegram|客服)",
        r"(?:微信|威信|薇信|vx|qq群?|电报)\W{0,2}号?\W{0,2}[a-z0-9_-]{5,}",
        r"(?:私聊|私信)我?(?:领|获|了解|报名|发|咨询)",
        r"(?:加群|进群|扫码)[^。\n]{0,6}?(?:领|送|福利|入|了解|赚)"),
    _lure("lure.claim", 0.65, "空投 领取 领红 福利 红包 免费 白嫖 中奖",
        r"(?:免费|点击|扫码|立即|限时|马上|速来)\W{0,2}(?:领取?|抢|获取|注册送)",
        r"空投[^。\n]{0,8}?(?:领|送|福利|来了|开启|活动)",
        r"(?:领|送|抢)[^。\n]{0,4}?(?:红包|空投|福利|彩金|大礼)",
        r"恭喜[^。\n]{0,8}?(?:中奖|获得|被选中)"),
    _lure("lure.money", 0.65,
        "稳赚 日赚 日入 月入 躺赚 高收 保本 翻倍 兼职 刷单 轻松 赚钱 收益 回报",
        r"稳赚", r"日赚", r"日入\W?\d", r"日入[过上]?[百千万]",
        r"月入\W?(?:过万|\d|[百千万])", r"躺赚", r"保本", r"(?:资金|本金|收益|轻松)翻",
        r"(?:在家|网上|手机|高薪)兼职",
        r"兼职[^。\n]{0,6}?(?:日|赚|元|结)",
        r"刷单", r"轻松赚", r"赚钱(?:项目|机会|方法)",
        r"(?:高|日|月|年化?)(?:收益|回报)[^。\n]{0,6}?\d"),
    _lure("lure.vices_or_papers", 0.7,
        "博彩 赌场 彩票 棋牌 百家 投注 开户 发票 办证 贷款 约炮 裸聊 色情 同城 娱乐 真人",
        r"博彩", r"赌场", r"百家乐",
        r"(?:棋牌|娱乐|彩票)(?:平台|城|网|注册|送)",
        r"(?:体育|在线|真人)(?:投注|荷官|娱乐)",
        r"(?:代开|开具)[^。\n]{0,4}?发票",
        r"办证",
        r"(?:秒批|无抵押|低息|快速|信用)贷款",
        r"贷款(?:秒|无|当天)", r"约炮", r"裸聊", r"同城(?:约|交友)",
        r"(?:注册|开户)送"),
    _lure("lure.attention", 0.45, "互粉 互赞 求关 主页 涨粉 买粉 刷粉 代刷 关注 刷量",
        r"互粉", r"互赞", r"求关注", r"涨粉", r"买粉", r"刷粉", r"代刷", r"刷量",
        r"(?:看|点|进|见|访问|欢迎来)(?:我的?|一下)?(?:个人)?主页",
        r"主页(?:有|看|见|领|自取)",
        r"关注我[^。\n]{0,6}?(?:领|送|回关|互|带)"),
    _lure("lure.haste", 0.25, "名额 限时 速来 手慢 错过",
        r"名额有限", r"限时(?:免费|优惠|福利|领)", r"速来", r"手慢无", r"不要错过",
        r"错过(?:后悔|再等)"),
)  # fmt: skip

LURED = by_token(LURES)
