"""The service keeps to its own OpenAPI description, whatever is sent."""

import pytest
from hypothesis import HealthCheck, given, settings

from spacy_punct.serve.app import make_app
from spacy_punct.serve.limits import Limits

schemathesis = pytest.importorskip("schemathesis")

REFUSALS = {
    *("P045", "P047", "P075"),  # marks that are there, or unknown; no truecaser
    *("P155", "P158", "P159"),  # too much
    *("P156", "P157", "P162", "P221"),  # not as described
    *("P141", "P143", "P144"),  # no such word, or none that can be edited so
    "P169",  # plainly another language
    *("P060", "P061", "P180", "P181"),  # no transcript, or a broken one
}
"""The codes of requests that cannot be answered."""


def test_answers_are_as_described(small):
    # Hosts are not part of the description.
    app = make_app(small, Limits(max_chars=200), hosts=["*"])
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert {operation.path for operation in operations} >= {
        "/restore",
        "/restore/batch",
        "/restore_words",
        "/correct",
        "/underlying",
        "/health",
    }
    for operation in operations:
        n = 10 if operation.body else 1

        @settings(max_examples=n, suppress_health_check=list(HealthCheck))
        @given(operation.as_strategy())
        def answers_as_described(case):
            # That a text has no such word, or the model no such mark, is not described.
            refused = schemathesis.checks.positive_data_acceptance
            answer = case.call_and_validate(excluded_checks=[refused])
            if answer.status_code >= 400:
                assert answer.json()["error"]["code"] in REFUSALS

        answers_as_described()
