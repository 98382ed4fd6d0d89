"""Every message the project raises, each with a code, its cause and a remedy."""


class PunctError(ValueError):
    """Input or state that the project cannot work with."""


class _Coded(type):
    """Prefix each message of a class with its attribute name, as spaCy does."""

    def __getattribute__(cls, name: str) -> str:
        message = type.__getattribute__(cls, name)
        return message if name.startswith("__") else f"[{name}] {message}"


class Errors(metaclass=_Coded):
    # Treebank files
    P001 = (
        "{where}: expected 10 tab-separated CoNLL-U columns, found {n}. Check that "
        "the file is CoNLL-U and that its columns are separated by tabs."
    )
    P002 = (
        "{where}: '{value}' is not a valid {column}. Token ids run 1, 2, 3, ... "
        "within a sentence (ranges as 1-2, empty nodes as 1.1) and heads are integers."
    )
    P003 = (
        "{where}: the file is not UTF-8 text ({reason}). Convert it to UTF-8 before "
        "reading it."
    )
    P004 = (
        "{where}: an empty sentence (comments with no token). Remove the comments or "
        "add the tokens."
    )
    P005 = "No such treebank file: {path}. Check the path."
    P006 = (
        "{path} holds no sentence with words, so there is nothing to learn from or to "
        "evaluate on. Check that it is the intended CoNLL-U file."
    )
    P007 = (
        "This cannot be written as a CoNLL-U line: {line}. Take tabs and line breaks "
        "out of words and comments."
    )
    # Trees and slots
    P010 = (
        "A tree's words, tags, heads and relations must be equally long and not "
        "empty; got {sizes}. Give one of each per word."
    )
    P011 = (
        "Word {i} ('{word}') has head {head}, which is not another word of this "
        "sentence of {n}. Heads are 0-based word positions; the root's is -1."
    )
    P012 = (
        "The tree has {n} roots (words {roots}); exactly one is allowed. Give each "
        "sentence its own tree, with one head of -1."
    )
    P013 = (
        "The heads form a cycle through word {i} ('{word}'), so this is not a tree. "
        "Check the parser's output."
    )
    P014 = (
        "A sentence of {words} words has {expected} slots, but {n} were given. Slot i "
        "stands before word i, and the last one after the last word."
    )
    P015 = (
        "Unknown mark '{mark}' in {where}. Known marks: {known}. Replace others by "
        "'{unk}' (Inventory.known does so)."
    )
    P016 = (
        "The tree is not projective: the constituent of word {i} ('{word}') has gaps. "
        "Call Tree.projective() first."
    )
    P017 = (
        "The abbreviation dot in slot {slot} has no word before it. It can only "
        "follow a word."
    )
    P018 = (
        "{where}: the punctuation token {i} has dependents, so the words are no tree "
        "without it. Leave the sentence out (make_treebank does so and counts it)."
    )
    P019 = (
        "Slot {slot} is {value}, not a sequence of marks. Give each slot as a tuple of "
        "strings, such as (',',) or ()."
    )
    # Model
    P020 = (
        "No treebank sentence to learn from or to evaluate on. Give at least one "
        "sentence that has words."
    )
    P021 = "Unknown channel direction '{direction}'. Use one of: {choices}."
    P022 = "Unknown channel kind '{kind}'. Use one of: {choices}."
    P023 = (
        "The given punctuation has probability zero under this model, so nothing can "
        "be inferred from it. Use a positive back-off mass."
    )
    P024 = "{name} must be {condition}, not {value}."
    P025 = (
        "Several trees were given, but of different words: {first} and {other}. "
        "Candidate trees must span the same sentence."
    )
    P026 = (
        "The loss became {loss} at step {step}, so training stopped. Lower the "
        "learning rate or check the data."
    )
    P027 = "No word {i} in a sentence of {n} words. Words are counted from 0."
    P028 = (
        "The scorer gave {shape} scores for relation '{relation}', which has {pairs} "
        "pairs. A scorer returns one row a node and one column a pair of its relation."
    )
    P029 = (
        "No underlying tree was found for the given punctuation: its marks can only "
        "come from strings that are neither in the inventory nor part of it. Train on "
        "data with such punctuation, or let no edit have probability zero."
    )
    P035 = (
        "This is no valid inventory: {reason}. Make one with Inventory.estimate, or "
        "load a model again."
    )
    P036 = (
        "Systems can only be compared on the same sentences, but there are {a} losses "
        "of one and {b} of the other. Give one loss a sentence for both, in the same "
        "order."
    )
    # Storage
    P030 = "No model at {path}. Give a folder written by spacy_punct.model.to_disk."
    P031 = (
        "{path} is not a readable spacy_punct model ({reason}). It may be truncated "
        "or of another program; train or copy it again."
    )
    P032 = (
        "{path} was written in model format {found}, and this version reads format "
        "{expected}. Install a matching version of spacy_punct or train again."
    )
    P033 = (
        "A model with a {scorer} cannot be stored here: only LogLinearAttach and "
        "LexicalAttach can. Store the scorer's weights by its own means."
    )
    P034 = (
        "{path} is not free: it holds something other than a model of this kind, "
        "which would be lost. Give another folder."
    )
    # Docs
    P040 = (
        "The Doc has no parse, and punctuation is restored on trees. Put a component "
        "that sets heads and relations (a parser, or a spacy-udpipe tokenizer) before "
        "the {name}, or give the Doc its own heads and deps."
    )
    P041 = (
        "The Doc is parsed only in part: {n} words have no relation, the first one "
        "being '{word}' (token {i}). Give every word a head and a relation, or none."
    )
    P042 = (
        "The Doc has no sentence bounds. A parser sets them; otherwise add a "
        "'sentencizer' or 'senter' before the {name}, or set Token.is_sent_start."
    )
    P044 = (
        "The component '{name}' is not trained, and its language or architecture is "
        "not one that comes with weights. Train it (python -m spacy train "
        "configs/full.cfg --output training --paths.train train.conllu --paths.dev "
        "dev.conllu), call nlp.initialize with examples that have punctuation, or load "
        "a trained pipeline (spacy_punct.pipelines.names() lists those that are here)."
    )
    P045 = (
        "The text already has punctuation ('{mark}' {where}), and existing is "
        '"error". Set existing to "replace" or "keep", or remove it.'
    )
    P046 = (
        "The setting {name} of the component '{component}' is '{value}'. Use one of: "
        "{choices}."
    )
    P047 = (
        "The setting marks of '{component}' names {unknown}, which the model does not "
        "know. It knows: {known}."
    )
    P048 = (
        "This Doc has {n} sentences, and a distribution is of one. Give one sentence, "
        "such as list(doc.sents)[0]."
    )
    P049 = (
        "An example has no punctuation to learn from. Read the data with the reader "
        "spacy_punct.Corpus.v1, which takes CoNLL-U files and DocBins made by "
        "python -m spacy punct convert."
    )
    P050 = "No data at {path}. Give a {wanted} file, or a folder that holds some."
    P051 = (
        "Cannot load the pipeline '{model}': {reason} Give the name of a bundled "
        "pipeline ({bundled}), of an installed one, or a folder that spaCy wrote."
    )
    P052 = (
        "The pipeline '{model}' has no punctuation_restorer, but {names}. Give one "
        "that was trained with one of the project's configs."
    )
    P053 = "No such file: {path}. Check the path."
    P054 = (
        "Subtitles and joined lines can only be written as text. Leave out --format, "
        "or restore line by line."
    )
    P055 = (
        "A sentence of the Doc is no tree: {roots} have no head, which one word must "
        "have, with the relation ROOT. Give all others a head, and let the component "
        "that sets heads also set the sentence bounds."
    )
    P056 = (
        "The pipeline's tokenizer changed the text from '{before}' to '{after}', so "
        "words cannot be told apart any more. Restore whole texts, not streams, with "
        "this pipeline."
    )
    P057 = (
        "The Doc was cut into other tokens after its punctuation was restored. Restore "
        "it again, or let such components come before."
    )
    P058 = "Unknown language '{lang}' ({reason}). Give a code such as en."
    # Words
    P065 = (
        "The model reads words as vectors of {width} numbers, and a tree of {n} words "
        "came with {found}. Give Tree.vectors a row for each word, from the tok2vec "
        "that the model was trained with; in a pipeline, put that before it."
    )
    P066 = (
        "{path} has {n} sentences and the treebank {expected}, or other words. Make it "
        "anew from the same files with `python -m spacy punct jackknife`."
    )
    P067 = (
        "The BiLSTM cannot know how long the vectors of '{name}' are before that is "
        "trained. Let it read a tok2vec with a width, such as "
        "spacy.Tok2VecListener.v1, or give that to the model without a BiLSTM."
    )
    # Bundled pipelines and streams
    P070 = (
        "No pipeline '{name}' comes with this package; there are: {names}. Use one of "
        "them, or load your own with spacy.load."
    )
    P071 = (
        "A stream goes through the whole pipeline, which finds sentences and trees by "
        "itself. Leave out --stream or --trees gold."
    )
    P072 = (
        "The pipeline cut the {expected} words of the treebank into {n} tokens, so "
        "they cannot be compared. Leave components that merge or split tokens out of "
        "the pipeline."
    )
    P073 = (
        "The Docs are not of the treebank's words, in which there are {expected} "
        "sentences; there are {n} Docs. Give one Doc for each sentence, with its words."
    )
    # Subtitles
    P060 = (
        "{where}: text before any timing line, so this is neither SRT nor WebVTT. Give "
        "each cue a line such as 00:00:01,000 --> 00:00:02,500, or read the file as "
        "plain text."
    )
    P061 = (
        "{where}: '{line}' is not a valid timing. Write a start and an end with "
        "minutes, seconds and milliseconds, such as 00:00:01,000 --> 00:00:02,500."
    )
    P062 = (
        "A cue of {expected} words got {n} texts. Give one for each word of "
        "Cue.words(), in order."
    )
    P063 = (
        "The text {text} for a word of a cue has a line break, which would tear the "
        "cue apart. Give words without line breaks; the cue keeps its own."
    )
    P064 = (
        "A block of {lines} lines has {n} line ends. Keep the number of lines when you "
        "replace a cue, as Cue.with_words does, or give new line ends."
    )
    # Capitals
    P075 = (
        'The setting casing is "truecase", but nothing is known of the capitals of '
        "this Doc. Put a truecaser before the component that writes it, or set casing "
        'to "auto" or "sentence".'
    )
    P076 = (
        "The component '{name}' is not trained. Train it with python -m spacy train, "
        "call nlp.initialize with examples whose references have their capitals, or "
        "load a trained pipeline."
    )
    P077 = (
        "The references of the examples for '{name}' have no capital but where "
        "sentences begin, so there is nothing to learn. Give references as they are "
        "written (the augmenter spacy.lower_case.v1 takes their capitals away too), "
        "and leave the component out in languages that have none."
    )
    P078 = (
        "The loss of '{name}' became {loss}, so training stopped. Lower the learning "
        "rate or check the data."
    )
    # Baselines
    P080 = "Unknown kind of tagger '{kind}'. Use one of: {choices}."
    P081 = (
        "{path} holds no readable tagger ({reason}). Give a folder written by "
        "scripts.baselines.to_disk, or train again."
    )
    P082 = (
        "This tagger corrects punctuation, but a sentence comes without the marks that "
        "a writer put into its slots. Give them, in examples as observed of the tree."
    )
    P083 = (
        "This tagger reads words alone, so it cannot correct. Use restore, or train "
        "one with reads_observed."
    )
    # Fetching treebanks
    P100 = (
        "{path} is no readable record of where files came from ({reason}). Remove it "
        "and run python -m spacy punct fetch again."
    )
    P101 = (
        "No treebanks to fetch by {path} ({reason}). Give the folder of a project.yml "
        "that lists treebank files under assets, with --project."
    )
    P102 = (
        "Unknown treebank '{name}'. {path} lists: {known}. One of your own needs its "
        "dev.conllu and test.conllu in a folder of that name beside theirs."
    )
    P103 = "No such mirror folder: {path}. Check the path, or fetch without --mirror."
    P104 = "{url} cannot be had ({reason})."
    P105 = (
        "The download of {url} broke off ({reason}). What has come is kept: run the "
        "command again to go on with it, or take the file from a folder with --mirror."
    )
    P106 = (
        "What came from {url} has the checksum {found}, not {expected}, and was "
        "removed. Run the command again, or take the file from a folder with --mirror."
    )
    P107 = (
        "What came from {url} is not a whole CoNLL-U file and was removed. Check that "
        "the network lets the address through, or take the file from a folder with "
        "--mirror."
    )
    P108 = (
        "Could not fetch {treebanks} ({reason}). Give a folder that holds the files "
        "with --mirror, connect to the network, or let the sample treebank stand in "
        "with --or-sample."
    )
    P109 = "No sample treebank at {path} to stand in. Leave out --or-sample."
    # Experiments
    P110 = (
        "The job '{name}' needs '{missing}', which does not come before it. Give every "
        "job after those it needs."
    )
    P111 = (
        "{n} of the jobs failed; '{name}' says: {reason} The log is {log}. Run the "
        "command again when the cause is gone: what is finished is kept."
    )
    P112 = (
        "The plan has no treebank '{name}'; it has: {names}. For another one give its "
        "language with --lang."
    )
    P113 = (
        "{path} is no plan of an experiment: {reason}. See those in "
        "configs/experiments."
    )
    P114 = (
        "There is nothing to report on '{name}' yet. Run the stages before the report, "
        "with the same plan."
    )
    # Correction
    P130 = (
        "This model corrects punctuation, and the tree does not say what was written. "
        "Set Tree.observed: a tuple of marks for each slot, empty where there are none."
    )
    P131 = (
        "The pipeline '{model}' has no punctuation_corrector, but {names}. Give one "
        "that was trained to correct, or add the component and train it."
    )
    P132 = (
        "{options} shows corrections in a text, and --format {format} has a form of "
        "its own. Leave out one of the two."
    )
    P133 = (
        "The pipeline's tokenizer changed the text from '{before}' to '{after}', so it "
        "cannot be told what to correct in it. Use a tokenizer that keeps every "
        "character, as spaCy's own does."
    )
    # Analysis and pictures
    P095 = (
        "Pictures need matplotlib, which is not installed. Install it with pip install "
        "'spacy-punct[plot]', or do without pictures."
    )
    P096 = "There is nothing to draw: {what}. Give some."
    # UDPipe
    P085 = (
        "UDPipe needs the package spacy-udpipe, which is not installed. Install it: "
        "pip install 'spacy-udpipe>=1.0.0'."
    )
    P086 = (
        "UDPipe cannot be trained: {reason} Check the settings, and that the treebank "
        "has parts of speech and that its roots alone have the relation root."
    )
    P087 = (
        "No readable UDPipe model with a tagger and a parser at {path}. Train one with "
        "scripts.udpipe.train_udpipe, or check the path."
    )
    # Training pipelines
    P090 = (
        "The training that was stopped cannot go on: {path} is not readable "
        "({reason}). Delete it to train anew."
    )
    P091 = (
        "The optimizer has numbers of {key}, which is in no model of the pipeline, so "
        "a training that stops could not go on. Train with python -m spacy train."
    )
    P092 = (
        "The config {path} cannot be used ({reason}). Check it with python -m spacy "
        "debug config."
    )
    # Correction
    P120 = "{name} must be from 0 to 1, not {value}. It is a rate: change it."
    P121 = "No such M2 file: {path}. Check the path."
    P122 = (
        "{where}: not a line of an M2 file: {line}. An S line has tokens apart by "
        "spaces; the A lines after it have a range of those tokens and five more "
        "fields after |||."
    )
    P123 = (
        "A model that corrects needs the pairs thought to be behind the observed marks "
        "of '{words}'. Set them with scripts.paper_correction.explain."
    )
    P124 = (
        "The tree of '{words}' has no observed marks to correct. Set Tree.observed to "
        "what the writer put into its slots, empty ones included."
    )
    P125 = (
        "{original} and {corrected} do not align ({reason}). Give the same sentences, "
        "in the same order or with the same ids, as they were written and as they were "
        "corrected."
    )
    P126 = (
        "{treebanks} cannot be fetched: the words are from the FCE dataset, which has "
        "a licence of its own. Accept it and download the data at "
        "https://www.ilexir.co.uk/datasets/index.html, then run the merge.py of "
        "https://github.com/UniversalDependencies/UD_English-ESL beside it, which "
        "gives the trees of the original (en_esl) and of the corrected sentences "
        "(en_cesl) with their words. Put these into folders of those names in "
        "{folder}, as train.conllu, dev.conllu and test.conllu."
    )
    P127 = (
        "{path} has '_' for every word: the annotation without the text. Merge it with "
        "the text first; python -m spacy punct fetch en_esl says how."
    )
    P135 = (
        "{path} is no CoNLL-U file (.conllu), so it is read as tokenised text, which "
        "needs corrections to compare with. Give them with --reference."
    )
    P136 = (
        "{path} has {n} lines, and the text that it corrects {expected}. Give one "
        "sentence a line, the same in both."
    )
    P137 = (
        "No sentence of {path} has the words of a reference, so there is nothing to "
        "compare. Both must be tokenised in the same way, and differ in nothing but "
        "punctuation and capitals where they are to be used."
    )
    P138 = (
        "{option} does not go with {path}. A treebank (.conllu) is its own reference; "
        "plain text has references, but no trees and no errors made on purpose."
    )
    P139 = (
        "'{name}' is to parse words again with {missing}, which the pipeline does not "
        "have. Name components that come before it in its setting 'reparse', or none."
    )
    # Rephrasing
    P140 = (
        "An underlying tree has a pair of punctemes for each word, and a number that "
        "no other word has; of words, pairs, numbers and different numbers there are "
        "{sizes}. Let edits take words of the tree they are given, each once."
    )
    P141 = (
        "There is no word {word} in '{words}'. Name a word of the sentence that is "
        "still there, by its text or by its token."
    )
    P142 = (
        "The word {word} is {n} times in '{words}'. Say which one you mean: give the "
        "token, or its position in the Doc."
    )
    P143 = (
        "'{word}' is the root of its sentence, which cannot be {done}. Name a word "
        "below it."
    )
    P144 = (
        "The order of '{head}' and its dependents must name each of {items} once, not "
        "{given}. A constituent goes by its head."
    )
    P145 = (
        "An edit gave {given}, not words of the underlying tree that it was given. "
        "Edits are callables from an UnderlyingTree to an UnderlyingTree."
    )
    P150 = (
        "A restorer alone cannot parse a text. Give the whole pipeline, or a Doc that "
        "is parsed."
    )
    # Pictures of Docs
    P146 = (
        "The Doc has no restored punctuation, or has changed since it was restored. "
        "Process it with a pipeline that has a punctuation_restorer, or give such a "
        "pipeline as nlp= or the component as restorer=."
    )
    P147 = (
        "The Doc has no corrections. Process it with a pipeline that has a "
        "punctuation_corrector, or give such a pipeline as nlp=."
    )
    P148 = "{name} cannot be '{value}'. Use one of: {choices}."
    P149 = (
        "Nothing was given that has learned to rewrite marks, but {given}. Give a "
        "pipeline with a punctuation_restorer as nlp=, or the component as restorer=."
    )
    # Serving
    P151 = (
        "The pipeline that is served has no {kind}, but {names}. Serve one that has: "
        "python -m spacy punct serve PIPELINE."
    )
    P152 = "Nothing is at {path}. There are: {known}."
    P153 = "{method} is not for this address. Use {allowed}."
    P154 = (
        "The request cannot be read: {reason}. Send HTTP/1.1 with one Host and, where "
        "there is a body, its Content-Length."
    )
    P155 = (
        "The body has {n} bytes, and {limit} are allowed. Send the text in parts, or "
        "serve it with a larger --max-chars."
    )
    P156 = (
        'The body is no JSON object ({reason}). Send one such as {{"text": "..."}}, in '
        "UTF-8."
    )
    P157 = "In {field} is {found}. Give {wanted}."
    P158 = (
        "The text has {n} characters, and {limit} are allowed. Send it in parts, or "
        "serve it with a larger --max-chars."
    )
    P159 = (
        "The text has more than {limit} marks or symbols in a row, from character "
        "{start}. Take some of them out."
    )
    P160 = "Too many requests are waiting. Try again in {seconds} seconds."
    P161 = (
        "This server does not answer requests by way of {name}. Use its own address, "
        "{url}."
    )
    P162 = (
        "The body is {type}, and only application/json is read. Say so in the header "
        "Content-Type."
    )
    P163 = (
        "The server failed ({reason}); what it printed says where. Please report it "
        "with the request."
    )
    P164 = "The request did not arrive within {seconds} seconds. Send it again."
    P165 = (
        "Cannot listen at {host}, port {port} ({reason}). Give an address of this "
        "machine with --host and a free port with --port; 0 is any."
    )
    P166 = (
        "The pipeline '{model}' has neither a punctuation_restorer nor a "
        "punctuation_corrector, but {names}. Give one that was trained with one of "
        "the project's configs."
    )


class Warnings(metaclass=_Coded):
    W001 = (
        "The parse has labels of another scheme ({labels}) than the Universal "
        "Dependencies that the model was trained on, so they fall back to a coarser "
        "score and the punctuation suffers. Use a pipeline trained on a UD treebank."
    )
    W002 = (
        "The Doc has no parts of speech, and the model reads them. Put a tagger or "
        "morphologizer that sets Token.pos before '{name}'."
    )
    W075 = (
        "The predicted Docs of the examples for '{name}' have all the capitals of the "
        "references, so it will learn to copy them and not to find them. Give it Docs "
        "in lower case, some at least."
    )
    W150 = (
        "Listening at {host}: everybody who can reach it may use this server, which "
        "knows no passwords. Leave out --host to serve this machine alone."
    )


def check_range(
    name: str, value: float, least: float, below: float = float("inf")
) -> None:
    """Raise P024 unless least <= value < below."""
    if not least <= value < below:
        condition = f"at least {least}"
        if below < float("inf"):
            condition += f" and less than {below}"
        raise PunctError(
            Errors.P024.format(name=name, condition=condition, value=value)
        )
