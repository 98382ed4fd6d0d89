"""Write the sample treebank: assets/sample/{train,dev,test}.conllu.

A small English grammar builds dependency trees. Every node has punctuation slots
at the two edges of its phrase, and the grammar fills them with whatever the syntax
calls for ("a fronted clause is followed by a comma"). What remains is typography, and
is done once, when a tree is laid out in a line: a comma is absorbed by a stronger
mark, a period by an abbreviation, and both move inside a closing quote.

Run `python assets/make_sample.py`. The same files come out each time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeVar

SIZES = {"train": 400, "dev": 80, "test": 80}
WORDS = range(3, 27)  # how many words a sentence may have
SEED = 20
OPTIONAL = 0.4  # how often an optional dependent is there
TARGET = Path(__file__).resolve().parent / "sample"

Rows = list[list[str]]  # of a sentence, in the columns of CoNLL-U
T = TypeVar("T")

# --- Trees --------------------------------------------------------------------------

STRENGTH = {",": 1, "--": 2, ";": 3, ":": 3, ".": 4, "...": 5, "!": 6, "?": 6}
MARK_TAGS = {"(": "-LRB-", ")": "-RRB-", "-": "HYPH", "?": ".", "!": "."}
MARK_TAGS |= {"“": "``", "”": "''", ";": ":", "--": ":", "...": ":"}
MARK_STICKS = {"(": "right", "“": "right", "-": "left right", "--": ""}  # others: left


@dataclass(eq=False)
class Node:
    """A word, its dependents, and the marks at the edges of its phrase."""

    form: str
    upos: str
    xpos: str
    lemma: str
    rel: str = "root"
    left: list[Node] = field(default_factory=list)
    right: list[Node] = field(default_factory=list)
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)
    sticks: str = ""  # the sides on which it has no space
    fused: bool = False  # one multiword token with the word before
    sentence: bool = False  # its first word has a capital
    head: Node | None = None


def mark(kind: str) -> Node:
    """Make the node of a mark. Quotes are straight, but their tags tell the side."""
    form = '"' if kind in "“”" else kind
    xpos, sticks = MARK_TAGS.get(kind, kind), MARK_STICKS.get(kind, "left")
    return Node(form, "PUNCT", xpos, form, "punct", sticks=sticks)


def marks(text: str) -> list[Node]:
    return [mark(kind) for kind in re.findall(r"--|\.\.\.|.", text)]


def place(line: list[Node], new: Node) -> None:
    """Add a mark to the end of a line, with absorption and transposition."""
    if new.form not in STRENGTH:
        line.append(new)
        return
    inside = len(line)  # where it goes if it moves inside the closing quotes
    while inside and line[inside - 1].xpos == "''":
        inside -= 1
    last = line[inside - 1] if inside else None
    if last is None or last.xpos == "``":
        return
    if last.form in STRENGTH:
        if STRENGTH[last.form] >= STRENGTH[new.form]:
            return
        inside -= 1
        del line[inside]
    elif new.form == "." and last.form.endswith("."):
        return
    if new.form in (",", ".") and inside < len(line):
        new.head = line[inside].head  # that of the quote: else the arcs would cross
        line.insert(inside, new)
    else:
        line.append(new)


def lay_out(node: Node, line: list[Node]) -> None:
    """Add the phrase of a node to a line, in order."""
    if node.sentence:
        first = node
        while first.left:
            first = first.left[0]
        first.form = first.form[0].upper() + first.form[1:]
    for child in (*node.before, *node.left, *node.right, *node.after):
        child.head = node
    for new in node.before:
        place(line, new)
    for child in node.left:
        lay_out(child, line)
    line.append(node)
    for child in node.right:
        lay_out(child, line)
    for new in node.after:
        place(line, new)


def linearise(root: Node) -> Rows:
    """Turn a tree into the ten-column rows of CoNLL-U."""
    line: list[Node] = []
    lay_out(root, line)
    ids = {node: str(i) for i, node in enumerate(line, start=1)}
    pairs = list(zip(line, [*line[1:], None], strict=True))
    tight = [
        "right" in node.sticks or (after is not None and "left" in after.sticks)
        for node, after in pairs
    ]
    misc = ["SpaceAfter=No" if glued else "_" for glued in tight]
    rows: Rows = []
    depth = 0  # of quotes: those within quotes are single
    for i, (node, after) in enumerate(pairs):
        depth -= node.xpos == "''"
        if node.xpos in ("``", "''"):
            node.form = node.lemma = "'" if depth else '"'
        depth += node.xpos == "``"
        if node.lemma == "a" and after and after.form[0] in "aeiou":
            node.form += "n"
        if after and after.fused:
            form = node.form + after.form
            rows.append([f"{i + 1}-{i + 2}", form, *"_" * 7, misc[i + 1]])
            misc[i] = misc[i + 1] = "_"
        head = ids[node.head] if node.head else "0"
        columns = [node.form, node.lemma, node.upos, node.xpos, "_", head, node.rel]
        rows.append([ids[node], *columns, "_", misc[i]])
    return rows


# --- Grammar ------------------------------------------------------------------------

# Each alternative is a row of dependents, "relation=SYMBOL", around a head, "*SYMBOL".
# Marks written at a dependent stand at the edges of its phrase, and marks written at
# the head at the edges of the whole. [] is optional, a number is a weight, and a form
# that the lexicon lacks is written form/UPOS/XPOS/lemma.
GRAMMAR = """
S -> 7 *STATED. | 4 *COMPLEX. | 4 *COMPOUND. | 4 *LISTED. | 2 *EXPLAINED.
  | 2 *ASIDE. | 2 *REPORTED. | 9 *ASKED? | 4 *EXCLAIMED! | 1 *POLITE. | 2 *UNSURE...
  | 9 *SPEECH. | 2 *BROKEN.

STATED -> 6 *CLAUSE | discourse=OPENER, *CLAUSE | vocative=NAME, *CLAUSE
  | *CLAUSE ,vocative=NAME | advmod=ADVERB, *CLAUSE | obl=DAYTIME, *PAST
CLAUSE -> 6 nsubj=ONE *VP1 | 2 nsubj=MANY *VP2 | nsubj=PRONOUN aux='ll *DO
  | nsubj=I/PRON/PRP *VP | nsubj=I/PRON/PRP cop='m [advmod=not] *MOOD
  | nsubj=they cop='re *STATE | nsubj=we aux='ve *DONE
PAST -> 3 nsubj=ONE *PAST1 | nsubj=MANY *DID | nsubj=I/PRON/PRP *DID
PAST1 -> 3 *DID | cop=was *STATE | aux=had *DONE | aux=did advmod=n't *DO
VP1 -> 4 *VP | cop=was *STATE | cop=was advmod=not *MOOD | cop=was advmod=n't *MOOD
  | cop=is *DESCRIBED | aux=was *DOING | *GO.VBZ obl=PLACE
VP2 -> 3 *VP | cop=were *STATE | aux=were [advmod=n't] *DOING
VP -> 4 *DID | aux=will [advmod=not] *DO | aux=did advmod=n't *DO | aux=could *DO
  | aux=ca advmod=n't *DO | aux=wo advmod=n't *DO | aux=had *DONE
DID -> 2 *DID_IT | *WANT.VBD xcomp=TO_DO | *GO.VBD conj=AND_DID_IT
DID_IT -> 2 *GO.VBD obl=PLACE | 3 *TAKE.VBD obj=THING [obl=PLACE]
  | 2 *READ.VBD obj=TEXT | *WORK.VBD obl=EMPLOYER
  | *TAKE.VBD obj=THING obl:tmod=yesterday
AND_DID_IT -> cc=and *TAKE.VBD obj=THING
DO -> 2 *GO obl=PLACE | *WORK obl=EMPLOYER | 2 *TAKE obj=THING [obl=PLACE]
  | 2 *READ obj=TEXT
TO_DO -> mark=to *DO
DOING -> *GO.VBG obl=PLACE | *TAKE.VBG obj=THING [obl=PLACE]
DONE -> *GO.VBN obl=PLACE | *TAKE.VBN obj=THING | *READ.VBN obj=TEXT
STATE -> 4 [advmod=very] *MOOD | *MOOD conj=AND_MOOD | *MOOD ,conj=MOOD ,conj=AND_MOOD
AND_MOOD -> cc=and *MOOD

ONE -> 4 *NAME | *HONORIFIC flat=SURNAME | 2 *SINGULAR | 3 *DEFINITE
  | *NAME ,appos=DESCRIBED, | *NAME ,acl:relcl=WHO, | *THE_PERSON acl:relcl=WHO
  | 2 *THE_PERSON (appos=NAMED)
MANY -> 3 *PLURAL | *NAME conj=AND_NAME | *NAME ,conj=NAME ,conj=AND_NAME
  | 2 det=the *PERSON.NNS
AND_NAME -> cc=and *NAME
NAMED -> *NAME | *HONORIFIC flat=SURNAME
SPEAKER -> 3 *NAME | *NAMED | *DEFINITE | *NAME ,appos=DESCRIBED,
OWNER_S -> *NAME case='s
DEFINITE -> 2 *THE_PERSON | nmod:poss=OWNER *KIN | nmod:poss=OWNER_S *KIN
THE_PERSON -> det=the [amod=AGE] *PERSON | det=the amod=WELL_KNOWN *PERSON
  | det=the amod=AGE ,amod=NATURE *PERSON
DESCRIBED -> det=a [amod=NATURE] *PERSON | nmod:poss=OWNER *COMPANION
  | det=a amod=WELL_KNOWN *PERSON
WELL_KNOWN -> advmod=well punct=- *known/VERB/VBN/know
  | advmod=hard punct=- *working/VERB/VBG/work
WHO -> nsubj=who *DID_IT | nsubj=who cop=was *MOOD | nsubj=who *GO.VBZ obl=PLACE
ASIDE -> nsubj=HIM *PAST1 | nsubj=HER *PAST1
HIM -> *MAN --parataxis=HE_WAS--
HER -> *WOMAN --parataxis=SHE_WAS--
HE_WAS -> nsubj=he cop=was *STATE
SHE_WAS -> nsubj=she cop=was *STATE

THING -> 7 *PLAIN | *PLAIN nmod=FROM | *PLAIN acl:relcl=THAT
  | *PLAIN ,acl:relcl=WHICH, | *it --appos=PLAIN-- | nummod=NUMBER *OBJECT.NNS
PLAIN -> det=ARTICLE *LOOKS | nmod:poss=OWNER *LOOKS | nmod:poss=OWNER_S *LOOKS
LOOKS -> 3 *OBJECT | 2 amod=LOOK *OBJECT | amod=SIZE ,amod=LOOK *OBJECT
  | amod=HANDMADE *OBJECT
HANDMADE -> compound=hand/NOUN/NN punct=- *made/VERB/VBN/make
  | compound=brand/NOUN/NN punct=- *new/ADJ/JJ
THAT -> obj=that/PRON/WDT nsubj=NAME *TAKE.VBD
  | obj=that/PRON/WDT nsubj=PRONOUN *TAKE.VBD
WHICH -> nsubj=which cop=was advmod=very *SIZE | nsubj=which cop=is advmod=quite *LOOK
FROM -> case=from *CITY
TEXT -> 2 *TITLE | nmod:poss=OWNER_S *PIECE ,appos=TITLE, | det=the [amod=TONE] *PIECE
TITLE -> “*NAME_OF_PIECE”
NAME_OF_PIECE -> det=the amod=TITLE_ADJECTIVE *TITLE_NOUN

PLACE -> 4 case=NEAR det=the *SITE | case=in *CITY | case=in det=the *COUNTRY
  | case=at nummod=HOUR *HALF_DAY
EMPLOYER -> case=for compound=FIRM *INC
DAYTIME -> case=on *DAY | case=in det=the *morning/NOUN/NN | case=after *MEAL

COMPLEX -> 2 advcl=BECAUSE, *PAST | advcl=ALTHOUGH, *PAST | 2 advcl=IF, *WILL
  | *PAST advcl=BECAUSE | *PAST ,advcl=ALTHOUGH | *WILL advcl=IF
WILL -> nsubj=ONE aux=will *DO | nsubj=MANY aux=will *DO
  | nsubj=ONE aux=wo advmod=n't *DO
BECAUSE -> mark=SUBORDINATOR *EVENT | advmod=when *EVENT
ALTHOUGH -> mark=although *EVENT
IF -> mark=CONDITION nsubj=it *RAIN.VBZ | mark=CONDITION nsubj=ONE *GO.VBZ obl=PLACE
  | advmod=when nsubj=ONE *TAKE.VBZ obj=PLAIN
EVENT -> 2 *PAST | nsubj=it *RAIN.VBD
COMPOUND -> *CLAUSE ,conj=AND_CLAUSE | 2 *CLAUSE ;parataxis=CLAUSE
  | *CLAUSE ;parataxis=HOWEVER
AND_CLAUSE -> cc=CONJUNCTION *CLAUSE
HOWEVER -> advmod=CONNECTIVE, *CLAUSE
LISTED -> 2 nsubj=SPEAKER *BUY.VBD obj=GOODS | nsubj=PLURAL aux=will *BUY obj=GOODS
  | nsubj=SPEAKER *BUY.VBD obj=THINGS
THINGS -> amod=SEVERAL *things/NOUN/NNS/thing :appos=GOODS
GOODS -> *GOOD conj=AND_GOOD | *GOOD ,conj=GOOD ,conj=AND_GOOD
  | *GOOD ,conj=GOOD ,conj=ETC | *GOOD ,conj=GOOD ,conj=GOOD ,conj=AND_GOOD
GOOD -> *STAPLE | *FRUIT.NNS
AND_GOOD -> cc=and *GOOD
EXPLAINED -> nsubj=MATTER cop=was *CLEAR :parataxis=CLAUSE
MATTER -> det=the *REASON | nmod:poss=OWNER *REASON | nmod:poss=OWNER_S *REASON
REPORTED -> 2 nsubj=SPEAKER *SAY.VBD ccomp=THAT_CLAUSE
  | nsubj=SPEAKER *ASK.VBD ccomp=WHETHER_CLAUSE
THAT_CLAUSE -> mark=that/SCONJ/IN *CLAUSE
WHETHER_CLAUSE -> mark=whether *CLAUSE | advmod=WHY *PAST

ASKED -> 5 *QUESTION | vocative=NAME, *QUESTION | *QUESTION ,vocative=NAME
  | discourse=OPENER, *QUESTION
QUESTION -> 2 aux=did nsubj=ONE *DO | aux=did nsubj=MANY *DO | cop=was nsubj=ONE *STATE
  | cop=were nsubj=MANY *STATE | aux=will nsubj=ONE *DO | aux=can nsubj=PRONOUN *DO
  | aux=did advmod=n't nsubj=ONE *DO | 2 nsubj=who *VP1
  | obj=what aux=did nsubj=ONE *TAKE [obl=PLACE] | obj=what aux=will nsubj=MANY *TAKE
  | 2 advmod=WHY aux=did nsubj=ONE *DO | advmod=WHY aux=will nsubj=MANY *DO
  | *where cop=is nsubj=PLAIN
  | nsubj=MAN cop=was *STATE ,parataxis=WASNT_HE | nsubj=WOMAN *DID ,parataxis=DIDNT_SHE
WASNT_HE -> *was advmod=n't nsubj=he
DIDNT_SHE -> *did advmod=n't nsubj=she
EXCLAIMED -> det:predet=what/DET/WDT det=a *LOOKS | advmod=how *SIZE nsubj=THIS cop=is
  | 2 discourse=WOW, *CLAUSE | *ORDER | *ORDER ,vocative=NAME
THIS -> det=this *OBJECT
ORDER -> 2 *TAKE obj=PLAIN [obl=PLACE] | aux=do advmod=n't *TAKE obj=PLAIN
POLITE -> discourse=please *ORDER | *ORDER ,discourse=please
UNSURE -> advmod=MAYBE *CLAUSE | discourse=hmm, advmod=MAYBE *CLAUSE

SPEECH -> 2 “ccomp=STATED”, *SAY.VBD nsubj=SPEAKER
  | 2 nsubj=SPEAKER *SAY.VBD ,“ccomp=STATED”
  | “ccomp=STATED”, nsubj=PRONOUN *SAY.VBD | nsubj=SPEAKER *SAY.VBD ,“ccomp=COMPLEX”
  | “ccomp=ASKED?”, *ASK.VBD nsubj=SPEAKER | nsubj=SPEAKER *ASK.VBD ,“ccomp=ASKED?”
  | “ccomp=EXCLAIMED!”, *CRY.VBD nsubj=SPEAKER | nsubj=ONE *CRY.VBD ,“ccomp=EXCLAIMED!”
  | “ccomp=UNSURE...”, *SAY.VBD nsubj=SPEAKER
BROKEN -> nsubj=DEFINITE ”,parataxis=SAID,“ “*VP1” | advcl=IF ”,parataxis=SAID,“ “*WILL”
  | discourse=OPENER ”,parataxis=SAID,“ “*CLAUSE”
SAID -> *SAY.VBD nsubj=NAMED | nsubj=PRONOUN *SAY.VBD
"""

# Classes, their part of speech, and their words; of irregular verbs, three forms.
LEXICON = """
NAME PROPN Anna Clara Maria Lucy Emma Ben David Peter Tom Oscar
MAN PROPN Ben David Peter Tom Oscar
WOMAN PROPN Anna Clara Maria Lucy Emma
HONORIFIC PROPN Mr. Mrs. Dr.
SURNAME PROPN Hill Grant Novak Lind Weber
PRONOUN PRON you he she we they
SINGULAR PRON he she
PLURAL PRON you we they
OWNER PRON/PRP$ my our his her their
PERSON NOUN teacher gardener doctor neighbor painter baker driver pilot student
COMPANION NOUN cousin friend neighbor colleague
KIN NOUN sister brother uncle cousin friend aunt
AGE ADJ young old tall
NATURE ADJ quiet friendly cheerful clever gentle
MOOD ADJ tired hungry happy late ready busy cold angry
OBJECT NOUN box clock chair lamp bicycle picture basket suitcase mirror boat umbrella
SIZE ADJ small large heavy light
LOOK ADJ old strange beautiful dusty expensive blue
PIECE NOUN story poem essay
TONE ADJ long short sad funny
TITLE_ADJECTIVE ADJ Silent Last Golden Lost Hidden
TITLE_NOUN NOUN River Train Garden Island Song
ARTICLE DET the the a
NUMBER NUM two three five
NEAR ADP in near behind
SITE NOUN garden park market library station school hotel church
CITY PROPN Lisbon Oslo Vienna
COUNTRY PROPN U.S. U.K.
FIRM PROPN Hartley Bluebird
INC PROPN Inc. Ltd.
HOUR NUM 6 7 9
HALF_DAY NOUN a.m. p.m.
DAY PROPN Monday Friday Sunday
MEAL NOUN lunch dinner breakfast
GO VERB wait sleep/slept/slept sing/sang/sung walk stay laugh dance
WORK VERB work
TAKE VERB buy/bought/bought sell/sold/sold hide/hid/hidden paint clean carry repair
READ VERB read/read/read write/wrote/written recite
WANT VERB want try decide
BUY VERB buy/bought/bought bring/brought/brought order
RAIN VERB rain snow
SAY VERB say/said/said reply answer whisper explain
ASK VERB ask wonder
CRY VERB shout cry
STAPLE NOUN bread cheese milk tea honey rice butter
FRUIT NOUN apple orange lemon onion
ETC X/FW etc.
SEVERAL ADJ several many
REASON NOUN reason problem plan
CLEAR ADJ simple clear
OPENER INTJ well yes no oh
WOW INTJ wow hooray alas
ADVERB ADV however unfortunately fortunately finally obviously
CONNECTIVE ADV however therefore
MAYBE ADV perhaps maybe
WHY ADV/WRB why when where how
SUBORDINATOR SCONJ because after before while
CONDITION SCONJ if unless
CONJUNCTION CCONJ and but so
"""
CLOSED = """
the DET DT; a DET DT; this DET DT; to PART TO; and CCONJ CC; very ADV RB; quite ADV RB
was AUX VBD be; were AUX VBD be; is AUX VBZ be; 'm AUX VBP be; 're AUX VBP be
will AUX MD; wo AUX MD will; 'll AUX MD will; could AUX MD; can AUX MD; ca AUX MD can
had AUX VBD have; 've AUX VBP have; did AUX VBD do; do AUX VB; not PART RB
n't PART RB not; 's PART POS; he PRON PRP; she PRON PRP; it PRON PRP; we PRON PRP
they PRON PRP; who PRON WP; what PRON WP; which PRON WDT; when ADV WRB; where ADV WRB
how ADV WRB; in ADP IN; on ADP IN; at ADP IN; for ADP IN; after ADP IN; from ADP IN
well ADV RB; hard ADV RB; although SCONJ IN; whether SCONJ IN; yesterday NOUN NN
please INTJ UH; hmm INTJ UH
"""
XPOS = {"PROPN": "NNP", "NOUN": "NN", "ADJ": "JJ", "ADV": "RB", "VERB": "VB"}
XPOS |= {"PRON": "PRP", "NUM": "CD", "DET": "DT", "INTJ": "UH", "ADP": "IN"}
XPOS |= {"SCONJ": "IN", "CCONJ": "CC"}
FUSED = ("n't", "'ll", "'m", "'re", "'ve")


@dataclass(frozen=True)
class Item:
    """One element of an alternative: a dependent, or the head (no relation)."""

    before: str
    rel: str
    symbol: str
    after: str
    optional: bool

    @classmethod
    def parse(cls, text: str) -> Item:
        inner = text.strip("[]")
        match = re.fullmatch(r"([^\w*]*)(?:\*|([\w:]+)=)(.+?)(\W*)", inner)
        if match is None:
            raise ValueError(f"not an item of the grammar: {text}")
        before, rel, symbol, after = match.groups(default="")
        return cls(before, rel, symbol, after, inner != text)


def read_grammar(text: str) -> dict[str, list[list[Item]]]:
    """Read the alternatives of each symbol, repeated by their weight."""
    rules: dict[str, list[list[Item]]] = {}
    for rule in re.split(r"\n(?=\w+ -> )", text.strip()):
        symbol, _, body = rule.partition(" -> ")
        rules[symbol] = []
        for alternative in body.split(" | "):
            items = alternative.split()
            weight = int(items.pop(0)) if items[0].isdigit() else 1
            rules[symbol] += [[Item.parse(item) for item in items]] * weight
    return rules


def read_lexicon(text: str) -> dict[str, tuple[str, str, list[str]]]:
    """Read the parts of speech and the words of each class."""
    lexicon = {}
    for line in text.strip().splitlines():
        symbol, tags, *words = line.split()
        upos, _, xpos = tags.partition("/")
        lexicon[symbol] = (upos, xpos or XPOS[upos], words)
    return lexicon


def inflect(entry: str, xpos: str) -> tuple[str, str]:
    """Return the form and the lemma of a word of the lexicon."""
    base, *irregular = entry.split("/")
    y = base.endswith("y") and base[-2] not in "aeiou"
    stem = base[:-1] + "i" if y else base
    past = stem + ("d" if stem.endswith("e") else "ed")
    sibilant = y or stem.endswith(("s", "sh", "ch", "x"))
    forms = {
        "VBD": irregular[0] if irregular else past,
        "VBN": irregular[1] if irregular else past,
        "VBG": base.removesuffix("e") + "ing",
        "VBZ": stem + ("es" if sibilant else "s"),
    }
    forms["NNS"] = forms["VBZ"]
    return forms.get(xpos, base), base


class Generator:
    """Draws sentences from the grammar."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed).random
        self.rules = read_grammar(GRAMMAR)
        self.lexicon = read_lexicon(LEXICON)
        closed = (entry.split() for entry in re.split(r"[;\n]", CLOSED.strip()))
        self.closed = {form: (form, *tags) for form, *tags in closed}
        self.used: set[str] = set()  # words of the lexicon already in the sentence

    def sentence(self) -> Node:
        self.used.clear()
        root = self.expand("S")
        root.sentence = True
        return root

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]

    def expand(self, symbol: str) -> Node:
        """Make a phrase: its head, with all that depends on it."""
        if symbol not in self.rules:
            return self.word(symbol)
        left: list[Node] = []
        right: list[Node] = []
        head: Node | None = None
        for item in self.pick(self.rules[symbol]):
            if item.optional and self.random() > OPTIONAL:
                continue
            node = self.expand(item.symbol)
            node.before[:0] = marks(item.before)
            node.after += marks(item.after)
            node.sentence |= item.before.endswith("“") and item.rel != "parataxis"
            if item.rel:
                node.rel = item.rel
                (right if head else left).append(node)
            else:
                head = node
        if head is None:
            raise ValueError(f"no head in an alternative of {symbol}")
        head.left[:0] = left
        head.right += right
        return head

    def word(self, symbol: str) -> Node:
        """Make a word: of a class, of the closed ones, or as written in the grammar."""
        name, _, tag = symbol.partition(".")
        if symbol == "-":
            return mark("-")
        if name in self.lexicon:
            upos, xpos, words = self.lexicon[name]
            entry = self.pick([w for w in words if w not in self.used] or words)
            self.used.add(entry)
            form, lemma = inflect(entry, tag or xpos)
            lemma = lemma if upos == "PROPN" else lemma.lower()
            return Node(form, upos, tag or xpos, lemma)
        form, upos, xpos, *lemmas = self.closed.get(symbol) or symbol.split("/")
        sticks = "left" if form == "'s" else ""
        lemma = lemmas[0] if lemmas else form
        return Node(form, upos, xpos, lemma, sticks=sticks, fused=form in FUSED)


# --- Special sentences --------------------------------------------------------------

PUNCT_HEAD, PUNCT_ONLY = "punctuation with a dependent", "nothing but punctuation"
CROSSING, EMPTY = "non-projective", "empty node"
SPECIAL_COUNTS = {PUNCT_HEAD: 2, PUNCT_ONLY: 1, CROSSING: 2, EMPTY: 1}
SPECIALS = f"""
# note = {PUNCT_HEAD}
1 Peter Peter PROPN NNP _ 2 nsubj _ _
2 laughed laugh VERB VBD _ 0 root _ SpaceAfter=No
3 , , PUNCT , _ 5 punct _ _
4 and and CCONJ CC _ 3 cc _ _
5 left leave VERB VBD _ 2 conj _ SpaceAfter=No
6 . . PUNCT . _ 2 punct _ _

# note = {PUNCT_HEAD}
1 " " PUNCT `` _ 2 punct _ SpaceAfter=No
2 Stop stop VERB VB _ 5 ccomp _ SpaceAfter=No
3 ! ! PUNCT . _ 4 punct _ SpaceAfter=No
4 " " PUNCT '' _ 2 punct _ _
5 shouted shout VERB VBD _ 0 root _ _
6 the the DET DT _ 7 det _ _
7 guard guard NOUN NN _ 5 nsubj _ SpaceAfter=No
8 . . PUNCT . _ 5 punct _ _

# note = {PUNCT_ONLY}
1 ... ... PUNCT : _ 0 root _ _

# note = {CROSSING}
1 Whom whom PRON WP _ 6 obj _ _
2 do do AUX VBP _ 4 aux _ _
3 you you PRON PRP _ 4 nsubj _ _
4 think think VERB VBP _ 0 root _ _
5 Lucy Lucy PROPN NNP _ 6 nsubj _ _
6 met meet VERB VBD _ 4 ccomp _ SpaceAfter=No
7 ? ? PUNCT . _ 4 punct _ _

# note = {CROSSING}
1 A a DET DT _ 2 det _ _
2 visitor visitor NOUN NN _ 3 nsubj _ _
3 came come VERB VBD _ 0 root _ _
4 whom whom PRON WP _ 6 obj _ _
5 nobody nobody PRON NN _ 6 nsubj _ _
6 expected expect VERB VBD _ 2 acl:relcl _ SpaceAfter=No
7 . . PUNCT . _ 3 punct _ _

# note = {EMPTY}
1 Clara Clara PROPN NNP _ 2 nsubj 2:nsubj _
2 ordered order VERB VBD _ 0 root 0:root _
3 tea tea NOUN NN _ 2 obj 2:obj SpaceAfter=No
4 , , PUNCT , _ 6 punct 6.1:punct _
5 and and CCONJ CC _ 6 cc 6.1:cc _
6 Tom Tom PROPN NNP _ 2 conj 6.1:nsubj _
6.1 ordered order VERB VBD _ _ _ 2:conj _
7 coffee coffee NOUN NN _ 6 orphan 6.1:obj SpaceAfter=No
8 . . PUNCT . _ 2 punct 2:punct _
"""

# --- Files --------------------------------------------------------------------------


def surface(rows: Rows) -> Iterator[list[str]]:
    """Yield the rows that make the text: words, or the tokens that cover them."""
    covered = 0
    for row in rows:
        if "-" in row[0]:
            covered = int(row[0].split("-")[1])
            yield row
        elif "." not in row[0] and int(row[0]) > covered:
            yield row


def text_of(rows: Rows) -> str:
    spaces = {"SpaceAfter=No": "", "_": " "}
    return "".join(row[1] + spaces[row[9]] for row in surface(rows)).rstrip()


def words_of(rows: Rows) -> tuple[str, ...]:
    """Return the words alone, which tell apart sentences regardless of their marks."""
    return tuple(row[1].lower() for row in rows if row[3] not in ("PUNCT", "_"))


def generate() -> dict[str, list[tuple[str, Rows]]]:
    """Make the sentences of each file, with their notes."""
    specials = [(meta["note"], rows) for meta, rows in parse(SPECIALS)]
    seen = {words_of(rows) for _, rows in specials}
    generator = Generator(SEED)
    corpus: dict[str, list[tuple[str, Rows]]] = {}
    for name, size in SIZES.items():
        sentences = corpus[name] = []
        while len(sentences) < size:
            if name == "train" and specials and len(sentences) % 60 == 59:
                sentences.append(specials.pop(0))
                continue
            rows = linearise(generator.sentence())
            words = words_of(rows)
            if len(words) in WORDS and words not in seen:
                seen.add(words)
                sentences.append(("", rows))
    return corpus


def render(name: str, sentences: list[tuple[str, Rows]]) -> str:
    blocks = []
    for i, (note, rows) in enumerate(sentences, start=1):
        lines = [f"# sent_id = sample-{name}-{i}", f"# text = {text_of(rows)}"]
        lines += [f"# note = {note}"] if note else []
        blocks.append("\n".join([*lines, *("\t".join(row) for row in rows)]))
    return "".join(block + "\n\n" for block in blocks)


def parse(conllu: str) -> Iterator[tuple[dict[str, str], Rows]]:
    for block in conllu.strip().split("\n\n"):
        lines = block.splitlines()
        pairs = (line[2:].split(" = ", 1) for line in lines if line.startswith("#"))
        yield dict(pairs), [s.split() for s in lines if not s.startswith("#")]


def crosses(heads: Sequence[int]) -> bool:
    """Say whether any two arcs cross; the first head is that of word 1."""
    arcs = [sorted((i, head)) for i, head in enumerate(heads, start=1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def reaches_root(heads: Sequence[int], i: int) -> bool:
    for _ in heads:
        i = heads[i - 1] if i else 0
    return i == 0


def check(name: str, conllu: str) -> None:
    """Raise if a file is not what it should be."""
    notes: Counter[str] = Counter()
    for meta, rows in parse(conllu):
        note = meta.get("note", "")
        notes[note] += 1
        words = [row for row in rows if row[0].isdigit()]
        heads = [int(row[6]) for row in words]
        punct = {int(row[0]) for row in words if row[3] == "PUNCT"}
        tests = {
            "columns": all(len(row) == 10 and all(row) for row in rows),
            "ids": [int(row[0]) for row in words] == [*range(1, len(words) + 1)],
            "heads": all(0 <= head <= len(words) for head in heads),
            "one root": [row[7] for row in words if row[6] == "0"] == ["root"],
            "acyclic": all(reaches_root(heads, i) for i in range(1, len(words) + 1)),
            "text": text_of(rows) == meta["text"],
            "relations": {int(row[0]) for row in words if row[7] == "punct"}
            == (set() if note == PUNCT_ONLY else punct),
            "leaf punctuation": bool(punct & {*heads}) == (note == PUNCT_HEAD),
            "projective": crosses(heads) == (note == CROSSING),
            "punctuation only": (len(punct) == len(words)) == (note == PUNCT_ONLY),
            "empty nodes": any("." in row[0] for row in rows) == (note == EMPTY),
        }
        failed = [test for test, passed in tests.items() if not passed]
        if failed:
            raise ValueError(f"{meta['sent_id']}: {', '.join(failed)}: {meta['text']}")
    expected = SPECIAL_COUNTS if name == "train" else {}
    if notes.total() != SIZES[name] or notes - Counter({"": SIZES[name]}) != expected:
        raise ValueError(f"{name}: {dict(notes)}")


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    for name, sentences in generate().items():
        path = TARGET / f"{name}.conllu"
        path.write_text(render(name, sentences), encoding="utf-8", newline="\n")
        check(name, path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
