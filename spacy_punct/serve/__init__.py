"""A page to try a pipeline in the browser, and the JSON API behind it.

`POST /restore`, `/correct` and `/underlying` take and give JSON: see `Api`, and for
what is sent `restoring`, `correcting` and `rearranging`. `GET /about` says what there
is, `GET /` is the page.
"""

from spacy_punct.serve.api import Api
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.server import PunctuationServer

__all__ = ["Api", "Limits", "PunctuationServer"]
