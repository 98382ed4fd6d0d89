"""Text that is plainly in another language is told, and nothing else."""

import pytest

from spacy_punct.errors import Errors, PunctError
from spacy_punct.text.languages import check_language, other_language
from tests.transcripts.builders import STORY

TEXTS = {
    "German": "also wir haben das gestern schon gesagt und ich glaube nicht dass es so "
    "einfach ist aber die leute sind auch mit der bahn gekommen",
    "Spanish": "bueno pues yo creo que no es tan fácil como la gente dice pero en el "
    "fondo se trata de una idea muy buena para los niños",
    "French": "alors je pense que ce n'est pas une bonne idée mais nous avons dit que "
    "les gens dans la ville ne sont pas contents et que vous le savez",
    "Italian": "allora io penso che non è una cosa facile ma la gente dice che si può "
    "fare con un po di tempo e anche con gli amici della scuola",
    "Cyrillic": "ну вот мы вчера говорили о том что это не так просто как кажется",
    "Arabic": "لقد قلنا أمس أن الأمر ليس سهلا كما يبدو للناس في المدينة",
    "Cjk": "我们昨天说过这件事情没有看起来那么简单大家都知道这一点对吧",
}


@pytest.mark.parametrize("name", TEXTS)
def test_languages_are_told(name):
    assert name in (other_language(TEXTS[name].split(), "en") or "")
    with pytest.raises(PunctError, match=rf"P190.*a\.txt seems to be.*{name}.*--force"):
        check_language(TEXTS[name].split(), "en", Errors.P190, name="a.txt")


@pytest.mark.parametrize(
    "text",
    [
        STORY,
        "",
        "bueno pues",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23",
        "we met Señor García at El Corte Inglés in Madrid and he said buenos días to "
        "everyone who was there and then we went to see the Museo del Prado",
        "yeah yeah right okay sure no wait what really hmm yes nice cool great thanks "
        "bye see you later alligator",
    ],
)
def test_languages_pass_what_may_be_english(text):
    assert other_language(text.split(), "en") is None


def test_languages_other_pipelines():
    assert other_language(TEXTS["German"].split(), "de") is None
    assert other_language(STORY.split(), "de") == "English"
    assert other_language(TEXTS["Cyrillic"].split(), "ru") is None
    assert other_language(STORY.split(), "ru") is not None
    assert other_language(STORY.split(), "xx") is None
