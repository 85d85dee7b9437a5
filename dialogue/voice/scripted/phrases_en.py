"""English phrases of the scripted voice. A touch is a clause that fits every pointer."""

from dialogue.voice.scripted.classify import Intent, Phrases

ENGLISH = Phrases(
    terms={
        Intent.ASKING: (
            "You are asking, so let us stay with the question before anybody answers it.",
            "This is a question, and I would rather keep it open a little than close it quickly.",
            "We are asking here: nobody has to be right yet.",
            "I read this as a real question, one that we can look into together.",
        ),
        Intent.DISPUTING: (
            "You object, and that is useful: what each of us takes for granted comes into view.",
            "We are in a dispute. I do not want to win it, I want to see what both sides lean on.",
            "This is a disagreement, so let us first say what exactly we disagree about.",
            "I hear an objection here, and behind it something you have seen and I have not.",
        ),
        Intent.DEFINING: (
            "We are settling what a word shall mean, which comes before any argument about it.",
            "This is about a definition: what a word covers and what it leaves out.",
            "I read this as naming something, not yet as claiming anything about it.",
            "We are defining here, and a definition is a choice that somebody makes.",
        ),
        Intent.TELLING: (
            "You are telling an experience, so I will not argue with it.",
            "Something happened to somebody here; that comes before any opinion about it.",
            "This is told, not argued, and I would like to hear it that way.",
            "An experience is on the table, and the open part is what we make of it.",
        ),
        Intent.CLAIMING: (
            "This is a claim about every case, so let us look at what it leans on.",
            "You state something general, and what is general hides its conditions well.",
            "I read this as an assertion, and I wonder what had to be assumed before it.",
            "We are asserting here. I would like to slow down before we agree or disagree.",
        ),
        Intent.PROPOSING: (
            "You propose something, so the game is to try it out, not to judge it.",
            "This is a suggestion about what to do, and it carries a picture of what is wrong.",
            "We are making plans here; I would like to see the need that they answer.",
            "I hear a proposal, and proposals rest on a guess about other people.",
        ),
        Intent.AGREEING: (
            "You agree, and agreement is where assumptions hide best.",
            "We seem to be of one mind here, which is a good moment to look twice.",
            "This is agreement, so I would like to ask what exactly we agree on.",
            "I am glad of the nod, and I am curious what it is a nod to.",
        ),
        Intent.REMARKING: (
            "I am not sure yet which game we are in: a remark, or the start of an inquiry.",
            "This reads like a remark in passing, and such remarks often carry the most.",
            "You say something without insisting on it, so I would like to turn it over once.",
            "We are only thinking aloud here, as far as I can see.",
        ),
        Intent.WORDLESS: (
            "There are no words here that I could answer, only a gesture.",
            "This is a sign rather than a sentence, so I can only guess at the game.",
            "A gesture without words: it may mean yes, no, or simply that you were here.",
        ),
    },
    short_terms={
        Intent.ASKING: "We are asking here.",
        Intent.DISPUTING: "We disagree here.",
        Intent.DEFINING: "We are defining here.",
        Intent.TELLING: "You tell what happened.",
        Intent.CLAIMING: "This is a claim.",
        Intent.PROPOSING: "This is a proposal.",
        Intent.AGREEING: "We agree here.",
        Intent.REMARKING: "A remark, I think.",
        Intent.WORDLESS: "A gesture, no words.",
    },
    touches={
        Intent.ASKING: (
            "the question already expects a certain kind of answer",
            "something is taken for granted before the asking begins",
            "an answer would have to say for whom it holds",
        ),
        Intent.DISPUTING: (
            "two pictures of the same thing come apart",
            "the disagreement may be about a word and not about the matter",
            "something is defended that has not been named yet",
        ),
        Intent.DEFINING: (
            "the border of the word is drawn, and something is left outside it",
            "another choice of words would lead to another conversation",
            "a habit of speaking does the deciding",
        ),
        Intent.TELLING: (
            "a single moment carries more than the conclusion drawn from it",
            "somebody noticed something before they had a word for it",
            "what was done says more than what was thought about it",
        ),
        Intent.CLAIMING: (
            "one case stands in for all the others",
            "a condition is missing that would make it true or false",
            "certainty arrives a little earlier than the evidence",
        ),
        Intent.PROPOSING: (
            "it shows what is felt to be missing",
            "somebody would have to change a habit, and we do not say who",
            "a means is offered before the end is clear",
        ),
        Intent.AGREEING: (
            "the same words may stand for two different things",
            "it would be easy to stop looking",
            "what we share is perhaps an assumption and not a finding",
        ),
        Intent.REMARKING: (
            "a thought is let go before it is finished",
            "something is noticed that could be asked about",
            "a whole view of the matter is folded into a few words",
        ),
        Intent.WORDLESS: ("much is left to the reader",),
    },
    pointers=(
        "“{quote}”: this is where {touch}.",
        "I would point at “{quote}”, because {touch} there.",
        "What holds my attention is “{quote}”. It seems to me that {touch}.",
        "Take “{quote}”. Here, as I read it, {touch}.",
        "The words “{quote}” carry it, for in them {touch}.",
        "I keep coming back to “{quote}”: it may be that {touch}.",
    ),
    short_pointers=(
        "It turns on “{quote}”.",
        "I mean “{quote}”.",
        "Look at “{quote}”.",
    ),
    elsewhere=(
        "What I can point at is further up in the thread: “{quote}”.",
        "The last words we have to hold on to are “{quote}”.",
        "It stands below “{quote}”, so I take it as an answer to that.",
    ),
    nowhere=(
        "The only thing I can point at is that somebody stopped here and left a mark.",
        "Nothing in it can be quoted, which is itself something to notice.",
    ),
    short_nowhere="I see only a mark.",
    exits=(
        "What did you see that made you put it this way?",
        "What would have to be true for the opposite to make sense?",
        "I may be wrong about this. What do you notice that I do not?",
        "Shall we go on from there, or leave it open for now?",
        "If it matters to you, tell me one case where it was otherwise. If not, let it rest.",
        "I will stop here, unless somebody wants to look further.",
        "Where did you first come to think so?",
        "Who would say this quite differently, and what do they know?",
    ),
    short_exits=("What do you see there?", "Shall we go on?", "I leave it open."),
    stone_terms=(
        "I would like to ask something here, not to settle it.",
        "This is an inquiry: I do not know where it leads.",
        "Let us take one assumption and look at it together, without deciding anything.",
        "I am thinking aloud, and I would be glad of company.",
    ),
    stone_kernels=(
        "What I start from is this: “{quote}”. I notice that I believe it more on some days.",
        "The thought is “{quote}”, and I have not found what it rests on.",
        "Somebody could say: “{quote}”. I wonder what they would have had to live through.",
        "“{quote}” sounds finished to me, and that makes me suspicious of it.",
    ),
    stone_threads=(
        "It began with words that were said in another thread, “{quote}”, and nobody took them up.",
        "Not long ago somebody here wrote “{quote}”. I have not put it down since.",
        "I come from a talk in which “{quote}” was said, and I think it deserves its own place.",
    ),
    stone_nowhere="I have no words to start from but ours here, and how quickly they agree.",
    stone_exits=(
        "Where have you seen it, or the contrary? One case is enough.",
        "What do we take for granted when we talk this way?",
        "If nothing comes to mind, that is an answer too, and it can rest here.",
        "Tell me what you would have to give up to see it differently.",
    ),
    titles=(
        "“{quote}”: what do we assume?",
        "Looking at “{quote}”",
        "Still open: “{quote}”",
        "What stands behind “{quote}”?",
    ),
    bare_title="An open question",
)
