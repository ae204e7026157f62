"""Who may know which card at which event number: told from the deck and the moves of a room's log alone.

This is the rules' word on hidden cards (K1, K2, K5; G1, G2, G5; H8, H14, H17, H21) written a second time. It shares no
code with the redaction, the views or the engine that it is to judge; of the server it uses the fold, and that only to
learn which entry made which event numbers.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec.structs import astuple

from engine.game import AnyGame, Card, Seat, Viewer
from engine.registry import GAMES
from server import room as rooms
from server.entries import Acted, Contributed, Dealt, Entry, Muted, Opened, Published
from server.room import Room

Knowledge: TypeAlias = frozenset[str]
Hands: TypeAlias = Mapping[int, Sequence[Card]]

NOTHING: Final[Knowledge] = frozenset()


class Course:
    """One deal as it goes: what everybody knows, and what each seat was dealt."""

    def __init__(self, hands: Hands, public: Iterable[Card]) -> None:
        self.hands = {seat: frozenset(cards) for seat, cards in hands.items()}
        self.public: set[str] = set(public)

    def acted(self, seat: Seat, action: str) -> None:
        """``seat`` did what ``action`` says."""
        raise NotImplementedError

    def known(self, seat: Viewer) -> Knowledge:
        """A seat knows the cards that it was dealt, to the end of the deal, and what is public."""
        return frozenset(self.public) | (NOTHING if seat is None else self.hands[seat])


class FlowerCourse(Course):
    """Koi-koi and go-stop: every hand card played is public, and with it the next stock card (K4, K5; G4, G5)."""

    def __init__(self, hands: Hands, board: Sequence[Card], stock: Sequence[Card], shown: Iterable[Card]) -> None:
        super().__init__(hands, (*board, *shown))
        self._stock = list(stock)

    def acted(self, seat: Seat, action: str) -> None:
        if action[0].isdigit():  # 03r, 03r*03p; all else plays no hand card
            self.public |= {action[:3], self._stock.pop(0)}


def koi_koi(deck: Sequence[Card], first: Seat) -> Course:
    """K1: eight to the first player, eight to the other, eight to the board. K2: some openings are shown."""
    mine, theirs, board, stock = deck[:8], deck[8:16], deck[16:24], deck[24:]
    hands = {first: mine, 1 - first: theirs}
    shown = [] if _special(board) else [card for hand in (mine, theirs) if _special(hand) for card in hand]
    return FlowerCourse(hands, board, stock, shown)


def _special(cards: Sequence[Card]) -> bool:
    """K2: four of one month, or four pairs."""
    months = Counter(card[:2] for card in cards).values()
    return 4 in months or all(count % 2 == 0 for count in months)


def go_stop(deck: Sequence[Card], first: Seat) -> Course:
    """G1: ten to the first player, ten to the other, eight to the layout. G2: fours of a month in hand are shown."""
    mine, theirs, board, stock = deck[:10], deck[10:20], deck[20:28], deck[28:]
    shown = [] if _fours(board) else [card for hand in (mine, theirs) for card in _fours(hand)]
    return FlowerCourse({first: mine, 1 - first: theirs}, board, stock, shown)


def _fours(cards: Sequence[Card]) -> list[Card]:
    months = Counter(card[:2] for card in cards)
    return [card for card in cards if months[card[:2]] == 4]


class MeriCourse(Course):
    """Hachinin Meri: the Okie is public (H8), face-down trumps until the eighth card (H17), the discard and the side
    cards until the opening lead (H14), the last cards until the eighth trick is settled (H21).
    """

    def __init__(self, deck: Sequence[Card], dealer: Seat, *, ninth_is_led: bool) -> None:
        hands: dict[int, list[Card]] = {seat: [] for seat in range(8)}
        for place, card in enumerate(deck[:72]):
            hands[(dealer + 1 + place % 24 // 3) % 8].append(card)
        super().__init__(hands, [deck[72]])
        self._okie = deck[72]
        self._side = deck[73:]
        self._ninth_is_led = ninth_is_led
        self._discard: Card | None = None
        self._trick: list[Card] = []
        self._tricks = 0

    def acted(self, seat: Seat, action: str) -> None:
        if action in {"declare", "pass"}:
            return
        if action[0] == "-":
            self._discard = Card(action[1:])
            return
        card = Card(action)
        if not self._trick and not self._tricks:
            assert self._discard is not None, "the first lead comes before a discard"
            self.public |= {self._discard, *self._side}
        self._trick.append(card)
        plain_lead = not self._is_trump(self._trick[0])
        if len(self._trick) == 1 or not (plain_lead and self._is_trump(card)):
            self.public.add(card)
        if len(self._trick) == 8:
            self.public |= set(self._trick)
            self._trick = []
            self._tricks += 1
            if self._tricks == 8 and not self._ninth_is_led:
                self.public |= set().union(*self.hands.values())  # what is left of them

    def _is_trump(self, card: Card) -> bool:
        """H4: of the suit printed on the Okie (H9), or Tenka (H3)."""
        return card[0] == self._okie[0] or card == "Pro"


def course_of(game: AnyGame, options: Mapping[str, object], deck: Sequence[Card], beginner: Seat) -> Course:
    """The deal that ``deck`` and ``beginner`` make."""
    match game.name:
        case "koi-koi":
            return koi_koi(deck, beginner)
        case "go-stop":
            return go_stop(deck, beginner)
        case "hachinin-meri":
            return MeriCourse(deck, beginner, ninth_is_led=options["ninth_trick"] == "led")
        case name:
            raise AssertionError(f"no oracle for {name}: a new game needs its own word on who may know what")


class Truth:
    """What was secret in a room, and from which number on it was not."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.numbers: list[int] = [0]
        """Of the last event after so many entries."""
        self.secrets: dict[str, int | None] = {}
        """Every run of bytes in the log, as hex and as base64, and the number from which it is public: seeds and
        contributions, as hex, from some number on; all else (hashes of tokens, the salt) never.
        """
        self.silenced: dict[str, int] = {}
        """Whom the host has muted for everyone, by name, and from which number on."""
        self.records: list[tuple[int, bytes]] = []
        """Of deals, each with the number of the last event when it could be kept."""
        self._known: list[dict[Viewer, Knowledge]] = [{}]
        """By number."""
        self.game: AnyGame
        self._follow(entries)

    @property
    def last(self) -> int:
        """The number of the last event."""
        return self.numbers[-1]

    def known(self, viewer: Viewer, number: int) -> Knowledge:
        """The cards that ``viewer`` may know at event ``number``."""
        return self._known[number].get(viewer, NOTHING)

    def _follow(self, entries: Iterable[Entry]) -> None:
        room: Room | None = None
        course: Course | None = None
        seeds: tuple[bytes, ...] = ()
        given: list[str] = []
        for entry in entries:
            before = 0 if room is None else room.number
            folded = rooms.fold(room, entry)
            room, body = folded.room, entry.body
            self.game = GAMES[room.game]
            numbers = {event.__struct_config__.tag: at for at, event in enumerate(folded.events, before + 1)}
            for secret in (found for value in astuple(body) for found in _bytes_in(value)):
                for text in (secret.hex(), b64encode(secret).decode(), urlsafe_b64encode(secret).decode()):
                    self.secrets[text.rstrip("=")] = None
            match body:
                case Opened():
                    course, seeds = None, body.seeds
                case Contributed():
                    given.append(body.value.hex())
                case Dealt():
                    assert room.table is not None
                    course = course_of(self.game, room.options, body.deck, room.table.match.beginner)
                case Acted():
                    assert course is not None
                    course.acted(body.seat, body.action)
                case Muted(everyone=True, on=True):
                    person = rooms.person_at(room, body.other)
                    assert person is not None
                    self.silenced[person.name] = room.number
                case Published():
                    pass  # H10: a declaration shows no card
                case _:
                    pass
            if "contributions-fixed" in numbers:
                self.secrets |= dict.fromkeys(given, numbers["contributions-fixed"])
                given = []
            if "seed-revealed" in numbers:
                assert room.table is not None
                self.secrets[seeds[room.table.match.deal - 1].hex()] = numbers["seed-revealed"]
            viewers: list[Viewer] = [None, *map(Seat, range(self.game.seats))]
            known = {viewer: NOTHING if course is None else course.known(viewer) for viewer in viewers}
            self._known += [known] * len(folded.events)
            self.records += [(room.number, deal.record) for deal in folded.finished]
            self.numbers.append(room.number)


def _bytes_in(value: object) -> Iterator[bytes]:
    """Every run of bytes in a field of an entry; none of nothing is one."""
    if isinstance(value, bytes) and value:
        yield value
    elif isinstance(value, tuple):
        for inner in value:
            yield from _bytes_in(inner)
