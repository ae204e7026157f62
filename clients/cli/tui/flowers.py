"""The picture that koi-koi and go-stop share: two players, the middle by month, captured cards, progress, a hand.

Belongs here: where everything stands, for every size of the canvas. What the games do not share (how points come about,
what lies in the middle besides single cards) is asked of the game's own panel.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from msgspec import Struct

from clients.cli.tui import flower_cards
from clients.cli.tui.canvas import Canvas, Piece, pad
from clients.cli.tui.choosing import Pick
from clients.cli.tui.flower_cards import HEIGHT, SYMBOLS, WIDE, WIDTH
from clients.cli.tui.panel import Looking, Panel, standing, word_picks
from clients.cli.words import N_, _, listed
from clients.cli.words.flowers import FlowerNames
from engine.flowers import Kind, kind, month
from engine.game import Card, Seat
from wording.columns import shortened
from wording.columns import width as columns_of

PLAYER_ROWS: Final = 4
"""Name, captured cards (two rows), progress."""
NAME_WIDTH: Final = 11
CELL: Final = 26
"""Columns of a month in the middle, where cards are chips."""


LEGEND: Final = N_("""\
How to read the table
  ▶              whose turn it is
  03 b★          month and kind of a card: b★ bright, a◆ animal, r▮ ribbon, and
                 p, q, s ○ for all others. Cards of one month match
  [3]  3         the key of a card; dashed: it cannot be played (3 says why)
  b★ 2 01b 03b   what a player has captured, by kind
  poetry 2/3     two of the three poetry ribbons are captured
  poetry 3 =5    they are made, and worth five points
  × moon         cannot be made any more
  ▒▒▒▒           cards in the other player's hand""")


class Progress(Struct, frozen=True):
    """How far a player is on the way to something that counts."""

    name: str
    """Short, translated."""
    have: int
    need: int
    points: int = 0
    """What it is worth, once it is made."""
    lost: bool = False
    """The other player holds a card that it would take."""


class Middle(Struct, frozen=True):
    """What lies between the players."""

    cards: tuple[Card, ...]
    stock: int
    turned: Card | None = None
    """The stock card whose target is being chosen."""
    turn_so_far: tuple[Card, ...] = ()
    """Cards of this turn that lie nowhere yet."""
    notes: dict[int, str] = {}
    """Something about a month."""


class FlowerPanel(Panel):
    """See the module."""

    names: ClassVar[FlowerNames]
    legend = LEGEND

    @abstractmethod
    def middle(self, looking: Looking) -> Middle:
        """What lies between the players."""

    @abstractmethod
    def facts(self, looking: Looking, seat: int) -> tuple[Piece, ...]:
        """What stands beside a player's name: points, calls."""

    @abstractmethod
    def progress(self, view: Any, seat: int) -> list[Progress]:
        """A player's way to everything that counts."""

    def turn(self, view: Any) -> Seat | None:
        """Whose turn it is."""
        return None if view.table.phase == "over" else view.table.turn

    def picks(self, view: Any, legal: tuple[str, ...]) -> tuple[Pick, ...]:
        """Hand cards (K4, G4), the targets of the stock card (K5, G5), or words (K8, G15)."""
        if all(action.startswith("*") for action in legal):
            return tuple(Pick(action[1:], (action,), action) for action in legal)
        if not any(action[0].isdigit() for action in legal):
            return word_picks(legal)
        return tuple(
            Pick(card, tuple(action for action in legal if action.partition("*")[0] == card), card)
            for card in view.hand or ()
        )

    # Drawing ----------------------------------------------------------------------------------------------

    def draw(self, canvas: Canvas, looking: Looking) -> None:
        """The other player above, the middle, the viewer below."""
        me = Seat(0) if looking.people.you is None else looking.people.you
        own = looking.view.hand
        hand_rows = HEIGHT if own is not None else 1
        middle = self.middle(looking)
        for_middle = canvas.height - 2 * PLAYER_ROWS - 1 - hand_rows
        self._player(canvas, 0, looking, Seat(1 - me))
        self._middle(canvas, PLAYER_ROWS, for_middle, looking, middle)
        self._player(canvas, canvas.height - hand_rows - PLAYER_ROWS, looking, me, own_below=own is not None)
        if own is not None:
            self._hand(canvas, canvas.height - hand_rows, looking, own)

    def _player(self, canvas: Canvas, y: int, looking: Looking, seat: Seat, *, own_below: bool = False) -> None:
        table, people = looking.view.table, looking.people
        turn = self.turn(looking.view) == seat
        info = people.seats[seat]
        told: tuple[Piece, ...] = (*standing(info), ("   ", ""), *self.facts(looking, seat))
        start = canvas.width if own_below else self._backs(canvas, y, looking, seat)
        room = max(NAME_WIDTH, start - 2 - sum(columns_of(text) for text, _inks in told))
        name = (shortened(people.called(seat), room), f"side{seat} you")
        canvas.line(0, y, [("▶ " if turn else "  ", "title"), name, *told], start)
        captured = sorted(table.captured[seat])
        self._pile(canvas, y + 1, captured, (Kind.BRIGHT, Kind.ANIMAL, Kind.RIBBON), looking)
        self._pile(canvas, y + 2, captured, (Kind.PLAIN,), looking)
        self._progress(canvas, y + 3, self.progress(looking.view, seat))

    def _backs(self, canvas: Canvas, y: int, looking: Looking, seat: int) -> int:
        """The hand of somebody else: backs, or with open cards the cards. Returns where it begins."""
        number = looking.view.table.hand_sizes[seat]
        if looking.hands is not None:
            return canvas.right(y, [(" ".join(looking.hands[seat]), "dim")])
        return canvas.right(y, [(f"{number} ", "dim"), ("▒▒" * number, "back")])

    def _pile(self, canvas: Canvas, y: int, cards: Sequence[Card], kinds: Sequence[Kind], looking: Looking) -> None:
        pieces: list[Piece] = []
        for each in kinds:
            here = [card for card in cards if kind(card) is each]
            symbol = SYMBOLS[each] if looking.symbols else ""
            pieces.append((f"  {each.value if each is not Kind.PLAIN else 'p'}{symbol} ", "dim"))
            pieces.append((f"{len(here)} " if here else "· ", "title" if here else "dim"))
            pieces += [(f"{card} ", "text") for card in here]
        canvas.line(0, y, pieces)

    def _progress(self, canvas: Canvas, y: int, progress: list[Progress]) -> None:
        """What is made first, then what is nearest; behind a cross what cannot be made any more, as far as it fits.

        Nothing is cut: what is farthest away is left out whole.
        """
        pieces: list[Piece] = []
        for each in sorted(progress, key=lambda each: (each.points == 0, each.need - each.have)):
            if each.points:
                pieces.append((f"{each.name} {each.have} ={each.points}", "good"))
            elif each.have and not each.lost:
                near = each.need - each.have <= 1
                pieces.append((f"{each.name} {each.have}/{each.need}", "note" if near else "text"))
        x = 2
        while pieces and x + sum(columns_of(text) for text, _inks in pieces) + 2 * (len(pieces) - 1) > canvas.width:
            pieces.pop()
        for piece in pieces:
            x = canvas.line(x, y, [piece]) + 2
        lost = [each.name for each in progress if each.lost and not each.points]
        while lost and x + columns_of(_lost(lost)) > canvas.width:
            lost.pop()
        canvas.line(x, y, [(_lost(lost), "dim")])

    # The middle -------------------------------------------------------------------------------------------

    def _middle(self, canvas: Canvas, y: int, rows: int, looking: Looking, middle: Middle) -> None:
        canvas.rule(y, _("On the table · {n} in the stock").format(n=middle.stock))
        if middle.turned is not None:
            card = middle.turned
            text = f" {card} {self.names.name(card)} "
            start = canvas.right(y, [(f" {_('from the stock:')} ", "note"), (text, "card-held"), (" ", "")])
            canvas.hit(start, y, canvas.width - start, 1, card)
        elif middle.turn_so_far:
            canvas.right(y, [(f" {_('in this turn:')} {' '.join(middle.turn_so_far)} ", "note")])
        cards = sorted(middle.cards)
        across = max(1, canvas.width // WIDTH)
        boxes = -(-len(cards) // across) * HEIGHT
        if boxes <= rows and not middle.notes:
            self._boxes(canvas, y + 1 + (rows - boxes) // 2, looking, cards, across)
        else:
            self._months(canvas, y + 1, rows, looking, cards=cards, notes=middle.notes)

    def _boxes(self, canvas: Canvas, y: int, looking: Looking, cards: list[Card], across: int) -> None:
        for place, card in enumerate(cards):
            row, column = divmod(place, across)
            in_row = min(across, len(cards) - row * across)
            stride = _stride(in_row, WIDTH, canvas.width)
            x = (canvas.width - in_row * stride) // 2 + column * stride
            paper, number = looking.paper(card, in_hand=False), looking.number(card)
            flower_cards.draw_box(
                canvas,
                x,
                y + row * HEIGHT,
                card,
                names=self.names,
                paper=paper,
                number=number,
                width=WIDTH,
                symbols=looking.symbols,
            )

    def _months(
        self, canvas: Canvas, y: int, rows: int, looking: Looking, *, cards: list[Card], notes: dict[int, str]
    ) -> None:
        months = sorted({month(card) for card in cards})
        most = max(1, canvas.width // CELL)
        columns = min(most, max(1, -(-len(months) // max(1, rows))))
        width, deep = canvas.width // columns, max(1, -(-len(months) // columns))
        for place, number in enumerate(months):
            column, row = divmod(place, deep)
            here = [card for card in cards if month(card) == number]
            flower = self.names.flower(here[0])
            flower = flower if columns_of(flower) <= NAME_WIDTH else flower_cards.short(flower)
            x = (
                canvas.line(column * width, y + row, [(f" {number:02} ", "title"), (pad(flower, NAME_WIDTH), "text")])
                + 1
            )
            for card in here:
                text, inks = flower_cards.chip(
                    card, looking.paper(card, in_hand=False), looking.number(card), symbols=looking.symbols
                )
                canvas.hit(x, y + row, len(text), 1, card)
                x = canvas.put(x, y + row, text, inks) + 1
            if number in notes:
                canvas.line(x, y + row, [(notes[number], "note")], width * (column + 1) - x)

    def _hand(self, canvas: Canvas, y: int, looking: Looking, hand: Sequence[Card]) -> None:
        width = WIDE if len(hand) * WIDE <= canvas.width else WIDTH
        stride = _stride(len(hand), width, canvas.width)
        left = max(0, (canvas.width - len(hand) * stride) // 2)
        for place, card in enumerate(hand):
            flower_cards.draw_box(
                canvas,
                left + place * stride,
                y,
                card,
                names=self.names,
                paper=looking.paper(card, in_hand=True),
                number=looking.number(card),
                width=width,
                symbols=looking.symbols,
            )


def _lost(names: list[str]) -> str:
    return f"× {listed(names)}" if names else ""


def _stride(number: int, width: int, room: int) -> int:
    """Columns from one card to the next: with a gap, if there is room for it."""
    return width + 1 if number * (width + 1) <= room else width
