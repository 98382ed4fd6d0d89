from collections.abc import Callable

import pytest
from typer.testing import CliRunner, Result

from scripts.steps import step_app


@pytest.fixture
def invoke() -> Callable[..., Result]:
    """Run the main function of a script with arguments."""

    def run(main: Callable[..., None], *args: object, **options: object) -> Result:
        return CliRunner().invoke(step_app(main), [str(arg) for arg in args], **options)

    return run
