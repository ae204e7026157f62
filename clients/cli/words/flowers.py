"""Words for the 48 flower cards, which koi-koi and go-stop share: names, the layout by month, piles by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from clients.cli.words import N_, Lines, _, counted, listed
from clients.cli.words.people import People
from engine.flowers import Kind, kind, month
from engine.game import Card
from wording.columns import padded, width

KINDS: Final[Mapping[Kind, str]] = {
    Kind.BRIGHT: N_("brights"),
    Kind.ANIMAL: N_("animals"),
    Kind.RIBBON: N_("ribbons"),
    Kind.PLAIN: N_("plains"),
}
JUNK_KINDS: Final[Mapping[Kind, str]] = {**KINDS, Kind.PLAIN: N_("junk")}
"""As go-stop calls them."""

MONTHS: Final = (
    N_("pine"),
    N_("plum"),
    N_("cherry"),
    N_("wisteria"),
    N_("iris"),
    N_("peony"),
    N_("bush clover"),
    N_("pampas"),
    N_("chrysanthemum"),
    N_("maple"),
)
"""January to October; November and December differ."""

PICTURES: Final[Mapping[str, str]] = {
    "01b": N_("crane"),
    "02a": N_("bush warbler"),
    "03b": N_("curtain"),
    "04a": N_("cuckoo"),
    "05a": N_("bridge"),
    "06a": N_("butterflies"),
    "07a": N_("boar"),
    "08b": N_("moon"),
    "08a": N_("geese"),
    "09a": N_("sake cup"),
    "10a": N_("deer"),
    "01r": N_("poetry ribbon"),
    "02r": N_("poetry ribbon"),
    "03r": N_("poetry ribbon"),
    "06r": N_("blue ribbon"),
    "09r": N_("blue ribbon"),
    "10r": N_("blue ribbon"),
    "04r": N_("red ribbon"),
    "05r": N_("red ribbon"),
    "07r": N_("red ribbon"),
}
"""What is on the cards that have more than their flower, January to October."""


class FlowerNames:
    """The names of one tradition: what November and December hold, and what a plain card is called."""

    def __init__(self, late_months: tuple[str, str], late_pictures: Mapping[str, str], plain: str) -> None:
        self._months = (*MONTHS, *late_months)
        self._pictures = {**PICTURES, **late_pictures}
        self._plain = plain

    def flower(self, card: Card) -> str:
        """The flower of a card's month."""
        return _(self._months[month(card) - 1])

    def picture(self, card: Card) -> str:
        """What is on a card besides its flower: ``curtain``, ``plain``."""
        return _(self._pictures.get(card, self._plain))

    def name(self, card: Card) -> str:
        """A card's name without its code: ``cherry curtain``."""
        if card in self._pictures:
            return _("{flower} {picture}").format(flower=self.flower(card), picture=self.picture(card))
        return _("{flower} {plain}").format(flower=self.flower(card), plain=_(self._plain))

    def coded(self, card: Card) -> str:
        """A card's code and name: ``03b cherry curtain``."""
        return f"{card} {self.name(card)}"

    def all(self, cards: Iterable[Card]) -> str:
        """Several cards in a sentence."""
        return listed(map(self.coded, cards))

    def pictures(self, cards: Iterable[Card]) -> str:
        """Several cards whose flower is known, in a sentence: ``03b curtain``."""
        return listed(f"{card} {self.picture(card)}" for card in cards)

    def months(self, cards: Iterable[Card]) -> list[tuple[str, str]]:
        """All cards of a deck, by month: ``03 cherry`` and what its cards show."""
        groups: dict[int, list[Card]] = {}
        for card in cards:
            groups.setdefault(month(card), []).append(card)
        return [(f"{number:02} {self.flower(here[0])}", self.pictures(here)) for number, here in groups.items()]

    def layout(self, cards: Sequence[Card], notes: Mapping[int, str]) -> Lines:
        """The cards in the middle, a line for each month; ``notes`` says something about some months."""
        rows = []
        for number in sorted({month(card) for card in cards}):
            here = [card for card in cards if month(card) == number]
            note = f"  ({notes[number]})" if number in notes else ""
            rows.append(f"  {number:02} {padded(self.flower(here[0]), 13)} {self.pictures(here)}{note}")
        return tuple(rows) or (f"  {_('(empty)')}",)

    def hand(self, cards: Sequence[Card], middle: Sequence[Card]) -> Lines:
        """A hand, sorted, with what each card matches in the middle."""
        rows = []
        for card in cards:
            matches = [other for other in middle if month(other) == month(card)]
            hint = f"→ {' '.join(matches)}" if matches else ""
            rows.append(f"  {padded(self.coded(card), 30)} {hint}".rstrip())
        return tuple(rows) or (f"  {_('(empty)')}",)


def holds(number: int, seat: int, people: People) -> str:
    """How many cards somebody has in hand: the beginning of a sentence."""
    if seat == people.you:
        return counted(number, "You hold {n} card", "You hold {n} cards")
    return counted(number, "{who} holds {n} card", "{who} holds {n} cards", who=people.name(seat))


def fitting(say: Callable[[str], str], parts: Sequence[str], columns: int) -> str:
    """``say`` of as many of ``parts``, listed, as ``columns`` have room for; an ellipsis stands for the others."""
    for number in range(len(parts), 0, -1):
        text = say(listed([*parts[:number], *(["…"] if number < len(parts) else [])]))
        if width(text) <= columns:
            return text
    return say("…")


def moved(card: Card, taken: Sequence[Card]) -> str:
    """A card that comes to the middle, in brief."""
    if not taken:
        return _("{card} stays").format(card=card)
    return _("{card} takes {cards}").format(card=card, cards=" ".join(taken))


def pile(cards: Sequence[Card], kinds: Mapping[Kind, str]) -> str:
    """Captured cards by kind: ``brights 03b · ribbons 01r 02r``."""
    groups = []
    for each, word in kinds.items():
        here = sorted(card for card in cards if kind(card) is each)
        if here:
            groups.append(f"{_(word)} {' '.join(here)}")
    return " · ".join(groups) or _("nothing yet")
