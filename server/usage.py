"""The command line of the server's programs in the reader's language.

Belongs here: what the standard library's parser says by itself, help in columns. Must not be known here: any command.
"""

from __future__ import annotations

import argparse
from typing import Final

from wording import N_
from wording.columns import wrapped

ARGPARSE: Final = (
    N_("usage: "),
    N_("options"),
    N_("positional arguments"),
    N_("show this help message and exit"),
    N_("%(prog)s: error: %(message)s\n"),
    N_("argument %(argument_name)s: %(message)s"),
    N_("the following arguments are required: %s"),
    N_("unrecognized arguments: %s"),
    N_("expected one argument"),
    N_("ignored explicit argument %r"),
    N_("invalid %(type)s value: %(value)r"),
    N_("invalid choice: %(value)r (choose from %(choices)s)"),
)
"""Texts of the library that a person can meet here, marked so that catalogues have them."""


class WideHelp(argparse.HelpFormatter):
    """Help measured in columns: a script without spaces is broken into lines as well."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return list(wrapped(" ".join(text.split()), width))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(wrapped(" ".join(text.split()), width, indent, indent))
