"""Every message the project raises, each with a code, its cause and a remedy."""


class PunctError(ValueError):
    """Input or state that the project cannot work with."""


class ImpossibleSurfaceError(PunctError):
    """Punctuation that a model cannot have written."""


class _Coded(type):
    """Prefix each message of a class with its attribute name, as spaCy does."""

    def __getattribute__(cls, name: str) -> str:
        message = type.__getattribute__(cls, name)
        return message if name.startswith("__") else f"[{name}] {message}"


class Errors(metaclass=_Coded):
    # Treebank files
    P001 = (
        "{where}: expected 10 tab-separated CoNLL-U columns but found {n}. Check that "
        "the file is CoNLL-U and that its columns are separated by tabs."
    )
    P002 = (
        "{where}: '{value}' is not a valid {column}. Token ids run 1, 2, 3, ... "
        "within a sentence (ranges look like 1-2, empty nodes like 1.1), and heads "
        "are integers."
    )
    P003 = "{where}: the file is not UTF-8 text ({reason}). Convert it to UTF-8 first."
    P004 = (
        "{where}: the sentence has comments but no tokens. Remove the comments or add "
        "the tokens."
    )
    P005 = "There is no treebank file at {path}. Check the path."
    P006 = (
        "{path} has no sentence with words, so there is nothing to learn from or to "
        "evaluate on. Check that it is the CoNLL-U file you meant."
    )
    P007 = (
        "This cannot be written as a line of CoNLL-U: {line}. Remove tabs and line "
        "breaks from words and comments."
    )
    # Trees and slots
    P010 = (
        "A tree needs one tag, head and relation for each word, and at least one "
        "word; it has {sizes} words, tags, heads and relations. Pass lists of the "
        "same length."
    )
    P011 = (
        "Word {i} ('{word}') has the head {head}, which is not another word of this "
        "{n}-word sentence. Heads are word positions counted from 0; the root has -1."
    )
    P012 = (
        "The tree has {n} roots (words {roots}) but must have exactly one. Give each "
        "sentence its own tree, in which one head is -1."
    )
    P013 = (
        "This is not a tree: the heads form a cycle through word {i} ('{word}'). "
        "Check the parser's output."
    )
    P014 = (
        "A sentence of {words} words has {expected} slots, but {n} were given. Slot i "
        "is the one before word i; the last slot follows the last word."
    )
    P015 = (
        "Unknown mark '{mark}' in {where}. The known marks are: {known}. Replace any "
        "other mark with '{unk}', as Inventory.known does."
    )
    P016 = (
        "The tree is not projective: the constituent of word {i} ('{word}') has gaps. "
        "Call Tree.projective() first."
    )
    P018 = (
        "{where}: punctuation token {i} has dependents, so removing it would break "
        "the tree. Leave the sentence out, as make_treebank does."
    )
    P019 = (
        "Slot {slot} is {value}, which is not a sequence of marks. Pass a tuple of "
        "strings for each slot, such as (',',) or ()."
    )
    # Model
    P020 = (
        "There is no sentence to learn from or to evaluate on. Pass at least one "
        "sentence that has words."
    )
    P021 = "Unknown channel direction '{direction}'. Choose one of: {choices}."
    P022 = "Unknown kind of channel '{kind}'. Choose one of: {choices}."
    P023 = (
        "The model cannot have written this punctuation, so nothing can be inferred "
        "from it. Set a positive back-off mass, and let no edit have probability zero."
    )
    P024 = "{name} must be {condition}, not {value}."
    P025 = (
        "All candidate trees must be of the same sentence, but these have different "
        "words: '{first}' and '{other}'. Pass trees of one sentence."
    )
    P026 = (
        "Training stopped because the loss became {loss} at step {step}. Lower the "
        "learning rate, or check the data."
    )
    P027 = "There is no word {i} in this {n}-word sentence. Words are counted from 0."
    P028 = (
        "The scorer returned scores of shape {shape} for the relation '{relation}', "
        "which has {pairs} pairs. Return one row per node and one column per pair of "
        "its relation."
    )
    P035 = (
        "The inventory is not valid: {reason}. Build it with Inventory.estimate, or "
        "load the model again."
    )
    P036 = (
        "Two systems can only be compared on the same sentences, but one has {a} "
        "losses and the other {b}. Pass one loss per sentence for each system, in the "
        "same order."
    )
    # Storage
    P031 = (
        "{path} is not a readable spacy_punct model ({reason}). The file may be "
        "truncated or from another program; copy it again or retrain the model."
    )
    P032 = (
        "{path} uses model format {found}, but this version reads format {expected}. "
        "Install a matching version of spacy_punct, or retrain the model."
    )
    P033 = (
        "A model whose scorer is a {scorer} cannot be saved. Use LogLinearAttach or "
        "LexicalAttach, or save the scorer's weights yourself."
    )
    # Docs and pipelines
    P040 = (
        "The Doc has no parse, and the {name} needs one. Add a component that sets "
        "heads and relations (such as a parser) before it, use a spacy-udpipe "
        "pipeline, or set heads and deps on the Doc yourself."
    )
    P041 = (
        "The Doc is only partly parsed: {n} words have no relation, the first of them "
        "'{word}' (token {i}). Set a head and a relation for every word, or for none."
    )
    P042 = (
        "The Doc has no sentence boundaries. Add a parser, a 'sentencizer' or a "
        "'senter' before the {name}, or set Token.is_sent_start."
    )
    P044 = (
        "The component '{name}' is not trained, and no weights are bundled for its "
        "language and architecture. Train it with `python -m spacy train`, call "
        "nlp.initialize with examples that have punctuation, or load a trained "
        'pipeline such as spacy_punct.load("en").'
    )
    P045 = (
        "The text already has punctuation ('{mark}' {where}), but existing is "
        '"error". Set existing to "replace" or "keep", or remove the punctuation.'
    )
    P046 = "The setting {name} cannot be '{value}'. Choose one of: {choices}."
    P047 = (
        "The setting marks of '{component}' names marks that the model does not know: "
        "{unknown}. It knows: {known}."
    )
    P048 = (
        "A distribution describes one sentence, but this Doc has {n}. Pass a single "
        "sentence, such as list(doc.sents)[0]."
    )
    P049 = (
        "An example has no punctuation to learn from. Read the data with "
        "spacy_punct.Corpus.v1, which takes CoNLL-U files and the .spacy files "
        "written by `python -m spacy punct convert`."
    )
    P050 = (
        "There is no data at {path}. Pass a {wanted} file, or a folder that contains "
        "such files."
    )
    P051 = (
        "Cannot load the pipeline '{model}': {reason} Pass the name of a bundled "
        "pipeline ({bundled}), the name of an installed one, or the path of a folder "
        "that spaCy wrote."
    )
    P052 = (
        "The pipeline '{model}' has no punctuation_restorer; its components are: "
        "{names}. Choose a pipeline with a restorer, or add and train one."
    )
    P053 = "There is no file at {path}. Check the path."
    P055 = (
        "A sentence of the Doc is not a tree: {roots} have no head inside it, but "
        "exactly one word, its root, must have none. Check the heads, and let the "
        "component that sets them set the sentence boundaries too."
    )
    P056 = (
        "The pipeline's tokenizer changed the text from '{before}' to '{after}', so "
        "its tokens no longer match the words of the stream. Process whole texts with "
        "this pipeline, not streams."
    )
    P057 = (
        "The Doc was retokenized after its punctuation was restored. Restore it "
        "again, or put the components that retokenize before the restorer."
    )
    P058 = "Unknown language '{lang}' ({reason}). Pass a language code such as en."
    P065 = (
        "The model reads each word as a vector of {width} numbers, but a tree of {n} "
        "words came with {found}. Pass an EncodedTree with one row per word, from the "
        "tok2vec the model was trained with; in a pipeline, put that tok2vec first."
    )
    P066 = (
        "The sentences of {path} do not match the treebank's: it has {n} sentences "
        "and the treebank {expected}, or their words differ. Make the file again from "
        "the same treebank with `python -m spacy punct jackknife`."
    )
    P068 = (
        "'{name}' was stored with weights that go with another version of the bundled "
        "pipeline. Remove it from the pipeline and add it again, or install the "
        "version of spacy-punct it was made with."
    )
    P069 = (
        "'{name}' cannot read text by itself (trees = 'own'): there is no bundled "
        "pipeline for '{lang}', or the config gives the component a model of its own. "
        "Put a parser before it and set trees to 'auto' or 'doc'."
    )
    P070 = (
        "No pipeline called '{name}' is bundled with this package; it has: {names}. "
        "Choose one of these, or load your own pipeline with spacy.load."
    )
    P071 = (
        "--stream cannot be combined with --trees gold, because a stream is parsed by "
        "the pipeline itself. Leave out one of the two."
    )
    P072 = (
        "The pipeline split the treebank's {expected} words into {n} tokens, so the "
        "two cannot be compared. Remove components that merge or split tokens."
    )
    # Transcripts
    P060 = (
        "{where}: text comes before the first timing line, so this is neither SRT nor "
        "WebVTT. Give each cue a timing such as 00:00:01,000 --> 00:00:02,500, or "
        "read the file as plain text."
    )
    P061 = (
        "{where}: '{line}' is not a valid timing. Write a start and an end with "
        "minutes, seconds and milliseconds, such as 00:00:01,000 --> 00:00:02,500."
    )
    P062 = (
        "A text of {expected} words was given {n} restored ones. Return one for each "
        "word, in order."
    )
    P063 = (
        "The word {text} contains a line break, which would split its line. Pass words "
        "without line breaks; a transcript keeps its own."
    )
    P180 = (
        "{name} is in no format that can be read here. These can: {known}. Convert "
        "the file to one of them."
    )
    P181 = (
        "{name} is not valid JSON ({reason}). Check that the file is complete, or give "
        "it a name that ends in .txt if it is plain text."
    )
    P183 = (
        "Several transcripts cannot go into one file or onto the screen. Pass "
        "--output-dir, or an --output with a pattern such as "
        "'{stem}.new{suffix}'."
    )
    P184 = (
        "{name} has no times, which subtitles need. Write it --to txt, md, json or "
        "jsonl, or start from a recogniser's output with times."
    )
    P185 = (
        "{first} and {second} would both be written to {path}. Give them different "
        "names, or write them to different folders."
    )
    P186 = "There is no transcript in {path}. Files that end in {suffixes} are read."
    P187 = "Pass either --output or --output-dir, not both."
    P188 = "{failed} of {n} files failed; the others are written. See the lines above."
    P189 = (
        "The pattern '{pattern}' is not valid ({reason}). It may contain {{folder}}, "
        "{{stem}} and {{suffix}}."
    )
    P190 = (
        "{name} seems to be {found}, but the pipeline is for {own}. Choose a pipeline "
        "for its language with --model, or pass --force."
    )
    P191 = (
        "The process that restored {name} ended without a message, perhaps for lack of "
        "memory. Split the file, or use a machine with more memory."
    )
    P192 = (
        "{path} would be written over what it is made from. Choose another folder or "
        "pattern for the output."
    )
    # Clusters
    P193 = (
        "Restoring on a cluster needs the package {package}, which is not installed. "
        "Install what is needed: pip install 'spacy-punct[ray]'."
    )
    P194 = (
        "There is no column '{column}'; there is: {columns}. Pass the name of the "
        "column with the texts as column=."
    )
    P195 = (
        "{failed} of {n} files failed ({listed}); the others are written. Mend those "
        "that failed and run it again."
    )
    # Capitals
    P075 = (
        'The setting casing is "truecase", but the Doc has no predicted capitals. Add '
        "a truecaser before the component that writes the text, or set casing to "
        '"auto" or "sentence".'
    )
    P076 = (
        "The component '{name}' is not trained. Train it with `python -m spacy "
        "train`, call nlp.initialize with examples whose references are capitalised, "
        "or load a trained pipeline."
    )
    P077 = (
        "The references for '{name}' have no capitals except at the start of "
        "sentences, so there is nothing to learn. Use references as they were written "
        "(the augmenter spacy.lower_case.v1 removes their capitals too), and leave "
        "the component out for languages without capitals."
    )
    P078 = (
        "Training stopped because the loss of '{name}' became {loss}. Lower the "
        "learning rate, or check the data."
    )
    # Correction
    P123 = (
        "The model needs the underlying pairs behind the observed marks of '{words}'. "
        "Set them with scripts.paper_corrector.explain."
    )
    P130 = (
        "This model corrects punctuation, but the tree does not say what was written. "
        "Set Tree.observed to one tuple of marks per slot, empty where there are "
        "none."
    )
    P131 = (
        "The pipeline '{model}' has no punctuation_corrector; its components are: "
        "{names}. Choose a pipeline with a corrector, or add and train one."
    )
    P132 = (
        "{options} cannot be combined with --format {format}, which shows corrections "
        "in its own way. Leave out one of the two."
    )
    P133 = (
        "The pipeline's tokenizer changed the text from '{before}' to '{after}', so "
        "corrections cannot be placed in it. Use a tokenizer that keeps every "
        "character, as spaCy's own does."
    )
    P220 = (
        "There is no kind of correction called '{kind}'. docs/writers.md lists all of "
        "them."
    )
    P221 = (
        "'data' is not annotated text. Send JSON such as "
        '{{"annotation": [{{"text": "A word"}}]}}, or plain text as \'text\'.'
    )
    P222 = (
        "--{option} needs names of files; '{source}' is none. Leave the option out for "
        "texts and standard input."
    )
    P223 = "Pass only one of {options}."
    # Rephrasing
    P140 = (
        "An underlying tree needs one pair of punctemes and one distinct number for "
        "each word; of words, pairs, numbers and distinct numbers there are {sizes}. "
        "Let edits only use words of the tree they are given, each at most once."
    )
    P141 = (
        "There is no word {word} in '{words}'. Name a word that is still in the "
        "sentence, by its text or by its token."
    )
    P142 = (
        "The word {word} occurs {n} times in '{words}'. Pass its token or its "
        "position in the Doc to say which one you mean."
    )
    P143 = (
        "'{word}' is the root of its sentence and cannot be {done}. Name a word below "
        "it."
    )
    P144 = (
        "The new order of '{head}' and its dependents must name each of {items} "
        "exactly once, but names {given}. Name a constituent by its head."
    )
    P145 = (
        "An edit returned {given} instead of words of the tree it was given. An edit "
        "is a function from an UnderlyingTree to an UnderlyingTree."
    )
    P150 = (
        "A restorer alone cannot parse a text. Pass the whole pipeline, or a Doc that "
        "is already parsed."
    )
    # Pictures
    P096 = "There is nothing to draw: {what}. Pass some."
    P146 = (
        "The Doc has no restored punctuation, or has changed since it was restored. "
        "Process it with a pipeline that has a punctuation_restorer, or pass that "
        "pipeline as nlp=."
    )
    P147 = (
        "The Doc has no corrections. Process it with a pipeline that has a "
        "punctuation_corrector, or pass such a pipeline as nlp=."
    )
    P148 = "{name} cannot be '{value}'. Choose one of: {choices}."
    P149 = (
        "Rewrites can only be drawn for a trained restorer, but these were given: "
        "{given}. Pass a pipeline with a punctuation_restorer as nlp=."
    )
    # Serving
    P152 = (
        "There is nothing at {path}. See /openapi.json for what the served pipeline "
        "can do."
    )
    P153 = "This address does not accept {method}. Use {allowed}."
    P155 = (
        "The body has more than {limit} bytes. Send the text in parts, or start the "
        "server with a larger --max-chars."
    )
    P156 = (
        'The body cannot be read: {reason}. Send a JSON object such as {{"text": '
        '"..."}}, encoded in UTF-8.'
    )
    P157 = "The request is not valid: {reason}. See /openapi.json for the fields."
    P158 = (
        "The request has {n} characters, but at most {limit} are allowed. Send it in "
        "parts, or start the server with a larger --max-chars."
    )
    P159 = (
        "The text has more than {limit} marks or symbols in a row, starting at "
        "character {start}. Remove some of them."
    )
    P160 = "Too many requests are waiting. Try again in {seconds} seconds."
    P162 = (
        "The body has the type {type}, but only {expected} is accepted. Set the "
        "Content-Type header accordingly."
    )
    P163 = (
        "The server failed ({reason}). Its log says where; please report the problem "
        "together with the request."
    )
    P164 = "The body did not arrive within {seconds} seconds. Send it again."
    P165 = (
        "Cannot listen at {host}, port {port} ({reason}). Use --host to pass an "
        "address of this machine and --port to pass a free port, or 0 for any."
    )
    P166 = (
        "The pipeline '{model}' has neither a punctuation_restorer nor a "
        "punctuation_corrector; its components are: {names}. Choose a pipeline with "
        "one of them."
    )
    P167 = (
        "Serving needs the package {package}, which is not installed. Install what is "
        "needed: pip install 'spacy-punct[serve]'."
    )
    P168 = (
        "The file has {n} characters, but at most {limit} are allowed. Restore it on "
        "the command line: python -m spacy punct restore FILE."
    )
    P169 = (
        "{name} seems to be {found}, but the pipeline is for {own}. Ask a server whose "
        'pipeline is for its language, or send "force": true to go on all the same.'
    )
    # Live text
    P200 = (
        "{word} is not a word: it is empty or has white space in it. Pass words one by "
        "one."
    )
    P201 = (
        "--live restores standard input and writes to standard output. Leave out "
        "names of files, texts, --output, --output-dir and --paragraphs."
    )
    P202 = (
        "The settings of live text came after the first message. Send them with the "
        "first one, or open another connection."
    )
    P250 = (
        "This component listens to the tok2vec of another pipeline, which has not read "
        "the Doc. Add it without a source (nlp.add_pipe('punctuation_restorer')), put "
        "that tok2vec before it, or call replace_listeners on its source first."
    )
    # Encoder
    P170 = (
        "The encoder has no weights yet. Load a pipeline that has them, or source its "
        'tok2vec: `nlp.add_pipe("tok2vec", source=spacy_punct.load("en"))`.'
    )
    P171 = (
        "These are not the weights of an encoder, or they are damaged ({reason}). Save "
        "them again, or fetch the pipeline again."
    )
    P172 = (
        "The encoder's setting `{name}` is {value}, but its weights need {needed}. "
        "Change the setting, or load other weights."
    )
    # Written text
    P173 = (
        "Spoken forms of numbers need the package num2words. Install it with "
        '`pip install "spacy-punct[project]"`, or leave out the spoken forms.'
    )
    P174 = (
        "{where}: {names} is not among {known}. Check the names in the settings of the "
        "text corpus."
    )
    P175 = (
        "{path} has no well punctuated English text, or hardly any. Check that it is "
        "plain text in UTF-8, with a paragraph or a sentence per line."
    )


class Warnings(metaclass=_Coded):
    W001 = (
        "The parse has labels ({labels}) that are not Universal Dependencies, on "
        "which the model was trained, so the punctuation will be worse. Use a "
        "pipeline trained on a UD treebank."
    )
    W002 = (
        "The Doc has no parts of speech, but the model reads them. Add a tagger or a "
        "morphologizer that sets Token.pos before '{name}'."
    )
    W003 = (
        "The punctuation of '{words} ...' could not be explained ({reason}), so its "
        "words get no left and right punctemes."
    )
    W004 = (
        "The text '{start} ...' seems to be {found}, but the bundled pipeline is for "
        "{own}, so its punctuation will be poor. Load a pipeline for its language with "
        "spacy.load, or leave the text out."
    )
    W150 = (
        "Listening at {host}: everyone who can reach this address can use the server, "
        "which asks for no password. Leave out --host to serve only this machine."
    )


def check_range(
    name: str,
    value: float,
    low: float,
    high: float = float("inf"),
    *,
    inclusive: bool = False,
) -> None:
    """Raise P024 unless low <= value < high.

    name (str): What the value is called in the message.
    value (float): The value to check.
    low (float): The least value allowed.
    high (float): The bound above.
    inclusive (bool): Whether the bound above is itself allowed.
    """
    if low <= value < high or (inclusive and value == high):
        return
    condition = f"at least {low}"
    if inclusive:
        condition = f"between {low} and {high}"
    elif high < float("inf"):
        condition += f" and less than {high}"
    raise PunctError(Errors.P024.format(name=name, condition=condition, value=value))


def check_same_text(before: str, after: str, message: str) -> None:
    """Raise an error if a tokenizer changed a text.

    before, after (str): The text, and the text of its Doc.
    message (str): Says what is wrong; has room for what was `{before}` and `{after}`.
    """
    if before == after:
        return
    pairs = enumerate(zip(before, after, strict=False))
    least = min(len(before), len(after))
    at = next((i for i, (a, b) in pairs if a != b), least)
    part = slice(max(at - 10, 0), at + 10)
    raise PunctError(message.format(before=before[part], after=after[part]))
