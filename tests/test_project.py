"""The project's commands name what is there."""

import re

from weasel.util.config import load_project_config

from tests.conftest import REPOSITORY


def test_project_is_valid():
    project = load_project_config(REPOSITORY)
    commands = {command["name"]: command for command in project["commands"]}
    for steps in project["workflows"].values():
        assert set(steps) <= set(commands)
    scripts = "\n".join(line for c in commands.values() for line in c["script"])
    named = re.findall(r"(?:configs|assets)/\w+\.(?:cfg|py)", scripts)
    assert len(named) >= 4
    for path in named:
        assert (REPOSITORY / path).is_file()
