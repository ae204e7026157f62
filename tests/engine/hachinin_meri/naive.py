"""The rules once more, written from the rules page as plainly as possible, to hold the engine against.

Shares nothing with the engine but the options' names. A game is a list of moves (seat, text) on a deck; everything is
worked out again from the first move each time.
"""

from __future__ import annotations

from collections.abc import Sequence

Move = tuple[int, str]

_ROUND = ["su", "un", "re", "ka", "so", "ro", *"123456789"]
_NATIVE = ["su", "un", "so", "TENKA", "ro", "re", "ka"]


class Naive:
    """A deal as it stands after ``moves``."""

    def __init__(self, options: dict[str, str], dealer: int, deck: Sequence[str], moves: Sequence[Move]) -> None:
        self.options = options
        self.dealer = dealer
        self.okie, self.side = deck[72], list(deck[73:])
        self.trump = self.okie[0]
        self.hands: dict[int, list[str]] = {}
        for turn in range(8):
            seat = (dealer + 1 + turn) % 8
            packets = (
                deck[3 * turn : 3 * turn + 3],
                deck[24 + 3 * turn : 27 + 3 * turn],
                deck[48 + 3 * turn : 51 + 3 * turn],
            )
            self.hands[seat] = [card for packet in packets for card in packet]
        self.dealt = {seat: list(hand) for seat, hand in self.hands.items()}
        self.answers = dict(moves[:8])
        self.taker = next((seat for seat, answer in self.answers.items() if answer == "declare"), dealer)
        self.discard = ""
        self.tricks: list[list[Move]] = []
        self.open: list[Move] = []
        self.turn = self.taker
        if len(self.answers) == 8:
            self.hands[self.taker].append(self.okie)
        for seat, text in moves[8:]:
            self._move(seat, text)
        self.over = (len(self.tricks) == 8 and options["ninth_trick"] == "simultaneous") or len(self.tricks) == 9

    def _move(self, seat: int, text: str) -> None:
        if text[0] == "-":
            self.discard = text[1:]
            self.hands[seat].remove(self.discard)
            return
        self.hands[seat].remove(text)
        self.open.append((seat, text))
        self.turn = (seat + 1) % 8
        if len(self.open) == 8:
            self.turn = self.winner(self.open, self.open[0][1][0])
            self.tricks.append(self.open)
            self.open = []

    def is_trump(self, card: str) -> bool:
        """H4."""
        return card[0] == self.trump or card == "Pro"

    def height(self, card: str) -> int:
        """H5: higher is better, among trumps or among the plain cards of a suit."""
        suit, rank = card[0], card[1:]
        numerals = "987654321" if suit in "PI" else "123456789"
        if card == "Pro" and self.trump != "P":
            return -_NATIVE.index("TENKA")
        if suit == self.trump:
            return -[*_NATIVE, *numerals].index(rank)
        if suit in "PI":
            order = ["su", "un", "re", "ka", "so", *numerals]
            if suit == "I":
                order.insert(order.index("1"), "ro")
            return -order.index(rank)
        return -_ROUND.index(rank)

    def winner(self, trick: list[Move], led: str) -> int:
        """H15."""
        competing = [move for move in trick if self.is_trump(move[1])] or [move for move in trick if move[1][0] == led]
        return max(competing, key=lambda move: self.height(move[1]))[0]

    def legal(self, seat: int) -> list[str]:
        """What ``seat``, being asked, may do."""
        hand = self.hands[seat]
        plain = [card for card in hand if not self.is_trump(card)]
        if len(self.answers) < 8:
            return ["declare", "pass"] if f"{self.trump}ro" in hand else ["pass"]  # H10
        if not self.discard:
            return sorted(f"-{card}" for card in (plain if plain and self.options["discard"] == "non-trump" else hand))
        return sorted(self._playable(seat, hand, plain))

    def _playable(self, seat: int, hand: list[str], plain: list[str]) -> list[str]:
        if not self.open:
            return hand if self.tricks else plain or hand  # H13
        lead = self.open[0][1]
        trumps = [card for card in hand if self.is_trump(card)]
        if self.is_trump(lead):  # H18, H19
            lone_sun = [f"{self.trump}su"]
            if trumps == lone_sun and [card for card in self.dealt[seat] if self.is_trump(card)] == lone_sun:
                return hand
            return trumps or hand
        if not any(self.is_trump(trick[0][1]) for trick in self.tricks):
            return hand  # H16
        suit = [card for card in plain if card[0] == lead[0]]
        if not suit:
            return hand
        return suit if self.options["monchi"] == "suit-first" else suit + trumps  # H20

    def scores(self) -> tuple[int, int]:
        """H21–H26, when the deal is over."""
        points = [0, 0]
        played = [(trick, trick[0][1][0], self.is_trump(trick[0][1])) for trick in self.tricks]
        if len(played) == 8:
            last = [(seat, hand[0]) for seat, hand in self.hands.items()]
            played.append((last, self.hands[self.dealer][0][0], False))
        for number, (trick, led, meri) in enumerate(played, 1):
            winner = self.winner(trick, led)
            team = winner % 2
            points[team] += 1
            if meri:
                continue
            theirs = [card for seat, card in trick if seat % 2 != team and self.is_trump(card)]
            if theirs:
                stake = self._stake(dict(trick)[winner], max(theirs, key=self.height), number)
                points[team] += stake
                points[1 - team] -= stake
        return points[0], points[1]

    def _stake(self, high: str, low: str, number: int) -> int:
        native = ["su un", "un so", "so ro", "ro re", "2 1" if self.trump in "PI" else "8 9"]
        if high[0] != self.trump or low[0] != self.trump or f"{high[1:]} {low[1:]}" not in native:
            return 0
        robai = f"{self.trump}ro"
        concealed = "declare" not in self.answers.values() and robai != self.okie and robai not in self.side
        fives = {
            "own-pairs": concealed and robai in (high, low),
            "every-combination": concealed,
            "off": False,
        }
        return 5 if number == 9 or fives[self.options["concealed_robai"]] else 2
