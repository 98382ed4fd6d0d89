"""Which characters of a text are prose: code, addresses and markup are not corrected,
and what is no sentence needs no end."""

import re
from functools import cached_property

_FENCE = r"^(?P<fence>```+|~~~+)[^\n]*\n(?:.*?\n)?(?P=fence)[^\n]*$"
_NO_PROSE = re.compile(
    "|".join(
        (
            _FENCE,
            r"\A---\n.*?\n---$",  # front matter
            r"^(?: {4}|\t)\S[^\n]*$",  # indented code
            r"^[ \t>]*(?:[-*+•]|\d{1,3}[.)])[ \t]",  # what items of lists begin with
            r"^[^\n]*\|[^\n]*\|[^\n]*$",  # rows of tables
            r"^[ \t]*\|?[ \t:|-]*--[-:| \t]*$",  # their rules
            r"`+[^`\n]+`+",
            r"\$\$.+?\$\$|\$[^$\s][^$\n]*[^$\s\d]\$(?!\d)",  # formulas
            r"</?[A-Za-z][^<>\n]*>|<!--.*?-->|&\w+;",
            r"!?\[[^\]\n]*\]\([^)\n]*\)|\[\^?[^\]\n]*\]:[^\n]*",  # links, notes
            r"\b[a-z][a-z0-9+.-]*://\S*[^\s.,;:!?)\]'\"]",
            r"\bwww\.\S*\w",
            r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
            r"(?<![\w.])[@#][\w-]+",  # names of users, tags
            r"(?:[A-Za-z]:)?(?:\\[\w.-]+)+\\?",
            r"(?<!\w)~?\.{0,2}(?:/[\w.-]*\w)+/?",  # paths
            r"\b[\w-]+(?:\.[\w-]+)*\.(?:py|js|ts|md|txt|json|cfg|yml|yaml|toml|csv|html?|"
            r"css|pdf|docx?|xlsx?|png|jpe?g|zip|gz|exe|sh|c|cpp|h|java|rs|go)\b",
            r"\b[\w.]*_[\w.]*\w|\b\w+::\w+",
            r"\b[A-Za-z_][\w.]*\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)",  # calls
            r"(?<!\w)--?[A-Za-z][\w-]*(?:=\S+)?",  # options
            r"\b\w+(?: (?:[=<>!+]=|[=<>]|->|=>) |[=!]?=)[\w\"'.-]+",
            r"(?<!\w)[:;=8]['’]?-?[()DPpOo/\\|\]\[*](?!\w)|<3|\^\^|¯\\_\(ツ\)_/¯",
        )
    ),
    re.MULTILINE | re.DOTALL,
)
_UNENDED = re.compile(
    r"^[ \t>]*(?:"
    r"#{1,6}[ \t][^\n]*"  # headings
    r"|(?:[-*+•]|\d{1,3}[.)]|\(?[a-z]\))[ \t][^\n]*"  # items of lists
    r"|(?:Dear|Hello|Hi|Hey)\b[^.!?\n]{0,40},?"
    r"|[A-Z][\w'’]*(?: [\w'’.]+){0,3},"  # salutations and closings
    r"|(?:Chapter|Part|Section|Figure|Table|Appendix)[ \t]+[\w.]+[^.!?\n]{0,80}"
    r")[ \t]*$",
    re.MULTILINE,
)
_RULED = re.compile(r"^[^\n]+\n(?:=+|-{3,})[ \t]*$", re.MULTILINE)
"""A heading with a line below."""
_VERSE = re.compile(r"(?:^[A-Z“\"][^\n]{3,55}[^.\n]\n){2,}^[^\n]{3,60}$", re.MULTILINE)
"""Three short lines or more that all begin with a capital."""
_YEAR = r"(?:1[5-9]|20)\d\d\b"
_NAME = r"[A-Z][\w’'-]*"
_DATE = rf"(?:\d{{1,2}} )?(?:[A-Z][a-z]{{2,8}}\.? )?{_YEAR}"
_REFERENCE = re.compile(
    rf"^{_NAME}(?: {_NAME})?, (?:(?:{_NAME}|and|&|et|de|van|von)[.,]* )*(?:{_NAME}|al)"
    rf"[.)][^\n]*(?:[,.] |\(){_DATE}[^\n]*$"
    rf"|^(?=[^\n]*[.?!”] )[^\n]*, (?:[A-Z][\w’'&-]*\.? ?){{1,5}}, {_DATE}[.,]"
    r"[^\n]{0,80}$",
    re.MULTILINE,
)
"""A line of a bibliography, by its author (Tan, Amy. Where the Past Begins. 2017) or
its publisher (Casablanca. Directed by Michael Curtiz, Warner Brothers, 1942)."""
_LINE_ENDS = frozenset({"missing-end", "wrong-end", "run-on", "comma-splice"})


class Prose:
    """What is prose in a text.

    text (str): The text.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _foreign(self) -> list[tuple[int, int]]:
        patterns = (_NO_PROSE, _REFERENCE)
        return [m.span() for p in patterns for m in p.finditer(self._text)]

    @cached_property
    def _unended(self) -> list[tuple[int, int]]:
        patterns = (_UNENDED, _RULED, _VERSE)
        return [m.span() for p in patterns for m in p.finditer(self._text)]

    def allows(self, start: int, end: int, kind: str) -> bool:
        """Whether a correction may be made.

        start, end (int): The characters that it changes.
        kind (str): Its kind.
        RETURNS (bool): Whether they are prose. Lines such as headings and items of
            lists may lack an end mark.
        """
        if any(a < start < b or (start < b and a < end) for a, b in self._foreign):
            return False
        rest = self._text[start:].partition("\n")[0]
        if kind not in _LINE_ENDS or rest.strip(" \t,;"):
            return True
        return not any(a < start <= b for a, b in self._unended)
