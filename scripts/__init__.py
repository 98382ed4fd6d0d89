"""The steps of project.yml, outside the wheel."""
