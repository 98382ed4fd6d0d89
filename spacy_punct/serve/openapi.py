"""The OpenAPI description of the service, made from what its routes declare."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from spacy_punct.about import __version__
from spacy_punct.serve.requests import Posted

_JSON = "application/json"
_REFERENCE = "#/components/schemas/{model}"


class Problem(BaseModel):
    """What went wrong, and what to do about it.

    code (str): The code of the message, such as P158.
    message (str): The message.
    """

    code: str
    message: str


class ErrorAnswer(BaseModel):
    """The answer to a request that cannot be fulfilled."""

    error: Problem


@dataclass(frozen=True)
class Operation:
    """What can be asked at an address.

    path (str): The address.
    summary (str): What it is for.
    answer (type[BaseModel]): What is answered.
    body (type[Posted] | None): What is posted there; None if it is only read.
    media_type, body_type (str): How the answer and the body are written.
    """

    path: str
    summary: str
    answer: type[BaseModel]
    body: type[Posted] | None = None
    media_type: str = _JSON
    body_type: str = _JSON


def describe(operations: Iterable[Operation]) -> dict[str, Any]:
    """Describe some operations.

    operations (Iterable[Operation]): The operations.
    RETURNS (dict[str, Any]): The description, as JSON data.
    """
    operations = list(operations)
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        (ErrorAnswer, "serialization"),
        *((operation.answer, "serialization") for operation in operations),
        *((o.body, "validation") for o in operations if o.body is not None),
    ]
    schemas, definitions = models_json_schema(models, ref_template=_REFERENCE)

    def content(
        model: type[BaseModel], mode: JsonSchemaMode, media_type: str = _JSON
    ) -> dict[str, Any]:
        return {"content": {media_type: {"schema": schemas[model, mode]}}}

    paths = {}
    for operation in operations:
        found: dict[str, Any] = {
            "summary": operation.summary,
            "operationId": operation.path.strip("/").replace("/", "_"),
            "responses": {
                "200": {
                    "description": "The answer.",
                    **content(operation.answer, "serialization", operation.media_type),
                },
                "default": {
                    "description": "What is wrong with the request, or the server.",
                    **content(ErrorAnswer, "serialization"),
                },
            },
        }
        if operation.body is not None:
            body = content(operation.body, "validation", operation.body_type)
            found["requestBody"] = {"required": True, **body}
        method = "get" if operation.body is None else "post"
        paths[operation.path] = {method: found}
    return {
        "openapi": "3.1.0",
        "info": {"title": "spacy-punct", "version": __version__},
        "paths": paths,
        "components": {"schemas": definitions["$defs"]},
    }
