"""The picture of Hachinin Meri: eight seats in a ring, the order of the cards above, the hand below.

Seats go clockwise, so the seat to your left (the next to play) is at your left on the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from clients.cli.tui.canvas import DOTTED, HEAVY, THIN, Canvas, Piece, pad
from clients.cli.tui.choosing import Pick
from clients.cli.tui.panel import Looking, Panel, standing, word_picks
from clients.cli.words import N_, Lines, _, within
from clients.cli.words.hachinin_meri import RANK_NAMES, SUITS, in_brief
from clients.cli.words.people import People, team_name
from engine.game import Card, Seat
from engine.hachinin_meri.cards import TENKA, TRUMPS, best, order
from engine.hachinin_meri.table import all_tricks, cards_held, left_of
from engine.hachinin_meri.types import (
    SEATS,
    TRICKS,
    Combination,
    DealScored,
    Dealt,
    Declared,
    MonchiBegan,
    OkieTaken,
    Phase,
    State,
    Suit,
    Table,
    Trick,
    TrickLed,
    TrickSettled,
    View,
)
from engine.registry import game_named
from wording.columns import shortened
from wording.columns import width as columns_of

SYMBOLS: Final[Mapping[str, str]] = {
    Suit.PAO: "♣",
    Suit.ISU: "♠",
    Suit.KOPPU: "♥",
    Suit.OURU: "♦",
    Suit.GURU: "@",
}
"""Clubs, swords, cups, coins; the comma crest is drawn by a sign that looks like it."""
WIDTH: Final = 7
HEIGHT: Final = 4
DEEPEST: Final = 7
"""Rows of a seat in the ring, however much room there is."""
NAME_WIDTH: Final = 6
"""Columns of a name at least, with its seat."""
HEAD: Final = 3
"""Rows above the ring: the order of trumps, of the suit led, points and tricks."""
Place = tuple[int, int, int, int]
"""Column, row, width and height."""
_RING: Final = ((1, 2), (0, 2), (0, 1), (0, 0), (1, 0), (2, 0), (2, 1), (2, 2))
"""Column and row of the seat that is so many places to the left of the viewer."""


def sorted_hand(hand: tuple[Card, ...], trump: Suit) -> tuple[Card, ...]:
    """Trumps first, each suit high to low (H5)."""
    suits = (trump, *(suit for suit in Suit if suit != trump))
    return tuple(card for suit in suits for card in order(suit, trump) if card in hand)


def open_hand(hand: tuple[Card, ...], room: int) -> list[Piece]:
    """A sorted hand in one line of ``room`` columns: whole codes, or each suit's letter once before its ranks, with
    blanks between suits if there is room: ``Psu P9 I7``, ``Psu9 I7``, ``Psu9I7``. 25 columns hold any hand.
    """
    whole: list[Piece] = [(" ".join(hand), "dim")]
    if _columns(whole) <= room:
        return whole
    suits: dict[str, list[str]] = {}
    for card in hand:  # Tenka, which stands among the trumps (H5), goes with the other cards of its letter
        suits.setdefault(card[0], []).append(card[1:])
    pieces: list[Piece] = []
    for between in (" ", ""):
        pieces = []
        for suit, ranks in suits.items():
            pieces += [((between if pieces else "") + suit, "text"), ("".join(ranks), "dim")]
        if _columns(pieces) <= room:
            break
    return pieces


def rank(card: Card) -> str:
    """A card's rank in words: ``Robai``, ``7``."""
    return _(RANK_NAMES[card[1:]]) if card[1:] in RANK_NAMES else card[1:]


def suit_mark(suit: str, *, symbols: bool) -> str:
    """A suit's letter with its symbol."""
    return suit + (SYMBOLS[suit] if symbols else "")


class HachininMeriPanel(Panel):
    """See the module."""

    game = game_named("hachinin-meri")
    legend = N_("""\
How to read the table
  ▶              whose turn it is; play goes round to the left
  ▒▒▒ won 2      cards still in hand, and tricks won
  Trump, Led     the cards of the trump suit and of the suit led, the highest
                 first: yours stand out, a dot is a card that is gone
  Tricks e oM    which team won each: M it was Meri, + with a combination
  MERI, MONCHI   what you may play is limited: rules H18 and H20
  ▒▒ a trump     a trump, face down until the trick is complete
  [3]  3         the key of a card; dashed: it cannot be played (3 says why)""")
    opening = Dealt
    notable = (Dealt, Declared, OkieTaken, TrickSettled, MonchiBegan, TrickLed)
    endings = (DealScored,)

    def turn(self, view: Any) -> Seat | None:
        """Who is to discard or play."""
        turn: Seat | None = view.table.turn
        return turn

    def picks(self, view: Any, legal: tuple[str, ...]) -> tuple[Pick, ...]:
        """Words (H10), or hand cards: to discard (H12) or to play."""
        if view.table.phase is Phase.DECLARING:
            return word_picks(legal)
        sign = "-" if view.table.phase is Phase.DISCARDING else ""
        return tuple(
            Pick(card, (sign + card,) if sign + card in legal else (), sign + card)
            for card in sorted_hand(view.hand, view.table.trump)
        )

    def headline(self, event: Any, said: Lines, people: People) -> str:
        """Of a settled trick its combination, or else who won it, not what was turned up; of a lead that it is Meri."""
        match event:
            case TrickSettled(trick=Trick(combination=Combination() as combination)):
                return in_brief(combination)
            case TrickSettled(trick=trick) if trick.face_down:
                said = said[1:]
            case TrickLed(meri=True):
                said = said[1:]
            case TrickLed():
                return ""  # who won the trick before is news until it is the reader's turn
            case _:
                pass
        return super().headline(event, said, people)

    def eyes(self, state: State, seat: Seat) -> View:
        """The whole table, face-down cards and side cards too, with the hand of ``seat``."""
        return View(seat, state.table, state.hands[seat])

    # Drawing ----------------------------------------------------------------------------------------------

    def draw(self, canvas: Canvas, looking: Looking) -> None:
        """See the module."""
        table: Table = looking.view.table
        hand = sorted_hand(looking.view.hand, table.trump)
        hand_rows = HEIGHT if looking.view.seat is not None else 0
        self._head(canvas, looking, table)
        rows = canvas.height - HEAD - 1 - hand_rows
        ring = min(rows, 3 * DEEPEST)
        self._ring(canvas, HEAD + (rows - ring) // 2, ring, looking, table)
        canvas.line(0, HEAD + rows, _aside(looking, table))
        self._hand(canvas, canvas.height - HEIGHT, looking, hand)

    def _head(self, canvas: Canvas, looking: Looking, table: Table) -> None:
        trump = table.trump
        self._strip(canvas, 0, _("Trump"), looking, trump)
        trick = _trick_in_sight(table)
        led = None if trick is None or not trick.cards else trick.cards[0]
        if led is not None and led not in TRUMPS[trump]:
            self._strip(canvas, 1, _("Led"), looking, Suit(led[0]))
        else:
            canvas.line(1, 1, [(_("The highest card stands at the left."), "dim")])
        won: list[Piece] = [(f" {_('Points')} ", "dim")]
        won += [(f"{team_name(side)} {table.points[side]}  ", f"side{side} you") for side in (0, 1)]
        won.append((f" {_('Tricks')} ", "dim"))
        for number in range(TRICKS):
            if number < len(table.tricks):
                settled = table.tricks[number]
                assert settled.winner is not None
                side = settled.winner % 2
                mark = ("+" if settled.combination is not None else "") + ("M" if settled.meri else "")
                won.append((f"{team_name(side)[:1]}{mark} ", f"side{side} you"))
            else:
                won.append(("· ", "dim"))
        canvas.line(0, 2, won)
        marks: list[Piece] = []
        if trick is not None and trick.meri:
            marks.append((f" {_('MERI')} ", "alarm"))
        if table.monchi:
            marks += [(" ", ""), (f" {_('MONCHI')} ", "turn")]
        canvas.right(2, marks)

    def _strip(self, canvas: Canvas, y: int, title: str, looking: Looking, suit: Suit) -> None:
        """The order of a suit, high to low: the viewer's own cards on paper, a dot for each that is gone."""
        table = looking.view.table
        gone = frozenset() if table.phase is Phase.OVER else _played(table)
        x = canvas.line(0, y, [(f" {title} {_(SUITS[suit])} {suit_mark(suit, symbols=looking.symbols)}  ", "title")])
        for card in order(suit, table.trump):
            name = _("Tenka") if card == TENKA else rank(card)
            mine = card in looking.view.hand
            x = canvas.line(x, y, [("·", "dim") if card in gone else (name, "mine" if mine else "text")]) + 1

    def _ring(self, canvas: Canvas, y: int, rows: int, looking: Looking, table: Table) -> None:
        me = Seat(0) if looking.people.you is None else looking.people.you
        width, deep = canvas.width // 3, rows // 3
        spare = rows - 3 * deep
        for places, (column, row) in enumerate(_RING):
            top = y + row * deep + min(row, spare)
            self._seat(canvas, (column * width, top, width, deep), looking, left_of(me, places))
        self._centre(canvas, width, y + deep + min(1, spare), width, table)

    def _seat(self, canvas: Canvas, place: Place, looking: Looking, seat: Seat) -> None:
        x, y, width, deep = place
        table, people, info = looking.view.table, looking.people, looking.people.seats[seat]
        side = seat % 2
        who = people.called(seat)
        by_seat = seat != people.you and (info.kind == "ai" or info.name is None)  # that is what they are called by
        who = who if by_seat else f"{seat} {who}"
        told: tuple[Piece, ...] = ((f" {team_name(side)}", f"side{side}"), *standing(info))
        who = shortened(who, max(NAME_WIDTH, width - 2 - _columns(told)))
        turn = "▶" if table.turn == seat else " "
        canvas.line(x, y, [(turn, "title"), (who, f"side{side} you"), *told], width - 1)
        trick = _trick_in_sight(table)
        if trick is not None:
            self._played(canvas, (x + 1, y + 1, width - 2, deep - 2), looking, seat, trick)
        if deep >= 3 and looking.hands is not None:
            shown = open_hand(sorted_hand(looking.hands[seat], table.trump), width - 1)
            canvas.line(x + 1, y + deep - 1, shown, width - 1)
        elif deep >= 3:
            facts = self._facts(looking, seat)
            if _columns(facts) > width - 2:
                facts[0] = (f"▒×{cards_held(table, seat)}", "back")
            canvas.line(x + 1, y + deep - 1, facts, width - 2)

    def _facts(self, looking: Looking, seat: Seat) -> list[Piece]:
        table = looking.view.table
        pieces: list[Piece] = [("▒" * cards_held(table, seat), "back")]
        tricks = sum(trick.winner == seat for trick in table.tricks)
        if tricks:
            pieces.append((" " + _("won {n}").format(n=tricks), "text"))
        if table.declarer == seat:
            pieces.append((" " + _("Robai"), "note"))
        if table.taker == seat:
            pieces.append((" " + _("Okie"), "note"))
        if table.dealer == seat:
            pieces.append((" " + _("dealer"), "dim"))
        return pieces

    def _played(self, canvas: Canvas, place: Place, looking: Looking, seat: Seat, trick: Trick) -> None:
        """What a seat has in the trick in sight: a line, or a box where there is room."""
        x, y, width, deep = place
        number = (seat - trick.leader) % SEATS
        if number >= len(trick.cards):
            return
        card = trick.cards[number]
        live = looking.view.table.trick is not None
        face_down = live and seat in trick.face_down
        if card is None:
            text, inks = f" ▒▒ {_('a trump')} ", "back"
        else:
            trump = card in TRUMPS[looking.view.table.trump]
            name = _("Tenka") if card == TENKA else f"{_(SUITS[card[0]])} {rank(card)}"
            text = f" {card} {SYMBOLS[card[0]]} {name} " if looking.symbols else f" {card} {name} "
            inks = "back" if face_down else "card trump" if trump else "card"
        if not live and trick.winner != seat:
            inks = "card-dim"
        if deep > 3:
            canvas.box(x, y, columns_of(text) + 2, 3, frame=THIN, inks=inks)
            x, y, width = x + 1, y + 1, width - 2
        shown: tuple[Piece, ...] = ((text, inks), ("│", inks)) if deep > 3 else ((text, inks),)
        mark = _mark(trick, number, seat, looking)
        if _columns((*shown, *mark)) > width:
            mark = [(sign[0], marked) for sign, marked in mark]
        canvas.line(x, y, [*shown, *mark], width)

    def _centre(self, canvas: Canvas, x: int, y: int, width: int, table: Table) -> None:
        """What the middle of the ring says: which trick this is."""
        number = len(table.tricks) + (table.trick is not None)
        if table.phase is Phase.DECLARING:
            texts = [_("Everyone is asked"), _("who holds the Robai?")]
        elif table.phase is Phase.DISCARDING:
            texts = [_("The taker discards")]
        elif table.phase is Phase.OVER:
            texts = [_("The deal is over")]
        elif table.trick is None and number:
            texts = [_("Trick {n} of {all}").format(n=number, all=TRICKS), _("is settled")]
        else:
            texts = [_("Trick {n} of {all}").format(n=max(1, number), all=TRICKS)]
        for row, text in enumerate(texts):
            canvas.line(
                x + max(0, (width - columns_of(text)) // 2), y + row, [(text, "title" if row == 0 else "text")], width
            )

    def _hand(self, canvas: Canvas, y: int, looking: Looking, hand: tuple[Card, ...]) -> None:
        # Some languages write a rank on six columns; ten such cards still go on eighty.
        width = WIDTH if all(columns_of(rank(card)) <= WIDTH - 2 for card in hand) else WIDTH + 1
        stride = width + 1 if len(hand) * (width + 1) <= canvas.width + 1 else width
        left = max(0, (canvas.width - len(hand) * stride + stride - width) // 2)
        trumps = TRUMPS[looking.view.table.trump]
        for place, card in enumerate(hand):
            x = left + place * stride
            paper, number = looking.paper(card, in_hand=True), looking.number(card)
            chosen = paper in ("card-pointed", "card-held")
            frame = HEAVY if chosen else DOTTED if paper == "card-dim" else THIN
            canvas.box(x, y, width, HEIGHT, frame=frame, inks=paper)
            inked = f"{paper} trump" if card in trumps and paper != "card-dim" else paper
            canvas.put(x + 1, y, suit_mark(card[0], symbols=looking.symbols), inked)
            canvas.put(x + 1, y + 1, pad(rank(card), width - 2), inked)
            if card in trumps:
                canvas.put(
                    x + 1, y + 2, pad(_("Tenka") if card == TENKA else within("on a card", "trump"), width - 2), paper
                )
            canvas.put(x + (width - len(number)) // 2, y + HEIGHT - 1, number, paper)
            canvas.hit(x, y, width, HEIGHT, card)


def _columns(pieces: Iterable[Piece]) -> int:
    return sum(columns_of(text) for text, _inks in pieces)


def _trick_in_sight(table: Table) -> Trick | None:
    """The trick in play; until the next lead the last one stays in sight."""
    return table.trick or (table.tricks[-1] if table.tricks else None)


def _mark(trick: Trick, place: int, seat: Seat, looking: Looking) -> list[Piece]:
    """Who has the trick, as far as can be seen (H17: nobody can tell while cards lie face down)."""
    if trick.winner is not None:
        return [(f"◀ {_('wins')}", "good")] if trick.winner == seat else []
    known = [card for card in trick.cards if card is not None]
    if trick.face_down or best(known, looking.view.table.trump) != place:
        return []
    return [(f"◀ {_('best')}", "note")]


def _played(table: Table) -> frozenset[Card | None]:
    """Cards that are out of play, as far as the viewer knows."""
    tricks = (card for trick in all_tricks(table) for card in trick.cards)
    return frozenset({*tricks, *(table.side or ()), table.discard})


def _aside(looking: Looking, table: Table) -> list[Piece]:
    """What lies beside the play: the Okie, the discard, the side cards (H8, H14)."""
    pieces: list[Piece] = [(f" {_('Okie')} {table.okie}", "text")]
    if table.taker is not None:
        pieces.append((" → " + looking.people.called(table.taker), "text"))
    if table.discard is not None:
        pieces.append((f"   {_('discard')} {table.discard}", "dim"))
    if table.side is not None:
        pieces.append((f"   {_('side cards')} {' '.join(table.side)}", "dim"))
    return pieces


PANEL: Final = HachininMeriPanel()
