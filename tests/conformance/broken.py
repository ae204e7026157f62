"""Games broken on purpose, each in one way, and what the law that it breaks says to it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from engine.game import Budget, IllegalAction, Message, Seat, Step, Thought, Viewer
from tests.toy import DUEL, Action, AnyEvent, Dealt, Duel, Ended, Laid, State, View


class LegalLies(Duel):
    """Offers a card that is not held."""

    def legal(self, view: View) -> tuple[Action, ...]:
        legal = super().legal(view)
        return legal[:-1] if len(legal) > 1 and view.table.doubled is not None else legal

    def apply(self, state: State, seat: Seat, action: Action) -> Step[State, AnyEvent]:
        return DUEL.apply(state, seat, action)


class WhyLies(Duel):
    """Gives another reason than the one it refuses for."""

    def why(self, view: View, action: Action) -> Message | None:
        refusal = super().why(view, action)
        return refusal and Message("because")

    def apply(self, state: State, seat: Seat, action: Action) -> Step[State, AnyEvent]:
        return DUEL.apply(state, seat, action)


class LetsAnyoneAct(Duel):
    """Accepts an action from a seat whose turn it is not."""

    def apply(self, state: State, seat: Seat, action: Action) -> Step[State, AnyEvent]:
        turn = state.table.turn
        allowed = turn is not None and action in self.legal_at(state, turn)
        return super().apply(state, turn if turn is not None and allowed else seat, action)


class LeaksHands(Duel):
    """Shows everybody the hands as they are dealt."""

    def redact(self, event: AnyEvent, viewer: Viewer) -> AnyEvent:
        if isinstance(event, Dealt):
            return event if event.unseen is None else replace(event, unseen=None)
        return super().redact(event, viewer)


class LeaksHandsToTheOther(Duel):
    """Shows the players, not the spectators, both hands."""

    def redact(self, event: AnyEvent, viewer: Viewer) -> AnyEvent:
        if isinstance(event, Dealt) and viewer is not None:
            return event if event.unseen is None else replace(event, unseen=None)
        return super().redact(event, viewer)


class LeaksTheFaceDownCard(Duel):
    """Shows the face-down card to all, in event and view alike."""

    def redact(self, event: AnyEvent, viewer: Viewer) -> AnyEvent:
        return event if isinstance(event, Laid) else super().redact(event, viewer)


class HidesWhatWasPublic(Duel):
    """Hides a card even from the one who laid it."""

    def redact(self, event: AnyEvent, viewer: Viewer) -> AnyEvent:
        return replace(event, card=None) if isinstance(event, Laid) and event.card else super().redact(event, viewer)


class AltersWhatItShows(Duel):
    """Shows a spectator another card than the one that lies there."""

    def redact(self, event: AnyEvent, viewer: Viewer) -> AnyEvent:
        shown = super().redact(event, viewer)
        return replace(shown, seat=Seat(0)) if isinstance(shown, Laid) and viewer is None else shown


class HidesMoreTheSecondTime(Duel):
    """Takes what was redacted for unfit to be shown."""

    def redact(self, event: AnyEvent, viewer: Viewer) -> AnyEvent:
        shown = super().redact(event, viewer)
        return replace(shown, hands=(None, None)) if isinstance(event, Dealt) and event.unseen is None else shown


class CopiesNeedlessly(Duel):
    """Makes a copy where nothing is hidden."""

    def redact(self, event: AnyEvent, viewer: Viewer) -> AnyEvent:
        return replace(event) if isinstance(event, Ended) else super().redact(event, viewer)


class ViewKnowsTheHand(Duel):
    """A view of both hands, which nobody was shown."""

    def view(self, state: State, viewer: Viewer) -> View:
        view = super().view(state, viewer)
        return replace(view, hand=(*state.hands[0], *state.hands[1])) if viewer == 0 else view


class ShowsWhoAnswered(Duel):
    """A sealed answer leaves a trace in the views."""

    def view(self, state: State, viewer: Viewer) -> View:
        view = super().view(state, viewer)
        answered = sum(answer is not None for answer in state.answers)
        return replace(view, table=replace(view.table, carry=view.table.carry + answered))


class ResamplesAnything(Duel):
    """Draws a world in which the viewer holds other cards."""

    def resample(self, view: View, rng: Random) -> State:
        return super().resample(replace(view, seat=None, hand=()), rng)


class ResamplesAlwaysTheSame(Duel):
    """Draws one world of many."""

    def resample(self, view: View, rng: Random) -> State:
        return super().resample(view, Random(1))


class LosesACard(Duel):
    """Forgets the card that nobody sees."""

    def apply(self, state: State, seat: Seat, action: Action) -> Step[State, AnyEvent]:
        step = super().apply(state, seat, action)
        return Step(replace(step.state, unseen=state.table.up), step.events)


class DefaultIsIllegal(Duel):
    """Does for an absent player what nobody may do."""

    def default_action(self, view: View) -> Action:
        return self.parse("d1")


class ChoosesByTheClock(Duel):
    """An AI that does not repeat itself."""

    count: ClassVar[list[int]] = [0]

    def think(self, view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
        self.count[0] += 1
        return Thought(legal[self.count[0] % len(legal)])


class ChoosesAnything(Duel):
    """An AI that does what is not legal."""

    def think(self, view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
        return Thought(self.parse("d3"))


class Peeks(Duel):
    """An AI that is told, past the encoding of its view, what the other holds."""

    peeked: ClassVar[list[str]] = [""]

    def view(self, state: State, viewer: Viewer) -> View:
        self.peeked[0] = state.unseen
        return super().view(state, viewer)

    def think(self, view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
        return Thought(legal[0], {self.text(legal[0]): float(self.peeked[0][1:])})


class ForgetsATag(Duel):
    """Makes an event that it does not list."""

    event_types: ClassVar[tuple[type[Struct], ...]] = Duel.event_types[:-1]


class MutatesItsState(Duel):
    """Refuses an action, and has changed the state all the same."""

    def apply(self, state: State, seat: Seat, action: Action) -> Step[State, AnyEvent]:
        try:
            return super().apply(state, seat, action)
        except IllegalAction:
            force_setattr(state, "unseen", state.table.up)
            raise


class ShowsWhatNobodyKnows(Duel):
    """Shows the card that stays out of play to a spectator, and so to everybody."""

    def redact(self, event: AnyEvent, viewer: Viewer) -> AnyEvent:
        if not isinstance(event, Dealt):
            return super().redact(event, viewer)
        hands = tuple(hand if viewer == seat else None for seat, hand in enumerate(event.hands))
        return event if event.hands == hands else replace(event, hands=hands)


class ReadsCarelessly(Duel):
    """Reads two texts as one action."""

    def parse(self, text: str) -> Action:
        return super().parse(text.strip().lower())


class NeverStopsAwaiting(Duel):
    """Awaits somebody after the end."""

    def awaiting(self, state: State) -> frozenset[Seat]:
        return super().awaiting(state) or frozenset({Seat(0)})


BROKEN: Final[dict[type[Duel], str]] = {
    LegalLies: "accepted and is not legal",
    WhyLies: "not what why says",
    LetsAnyoneAct: "accepted and is not legal",
    LeaksHands: "hands were shown to everybody",
    LeaksHandsToTheOther: "secrets of another",
    ShowsWhatNobodyKnows: "what nobody may know was shown",
    LeaksTheFaceDownCard: "not what was shown",
    HidesWhatWasPublic: "not what was shown",
    AltersWhatItShows: "altered what it shows",
    HidesMoreTheSecondTime: "redacted again",
    CopiesNeedlessly: "copied",
    ViewKnowsTheHand: "not what was shown",
    ShowsWhoAnswered: "a sealed answer shows",
    ResamplesAnything: "sees the drawn world otherwise",
    ResamplesAlwaysTheSame: "every drawn world is the same",
    LosesACard: "a card was lost",
    DefaultIsIllegal: "default action is not legal",
    ChoosesByTheClock: "does not repeat itself",
    ChoosesAnything: "chose something that is not legal",
    Peeks: "knows more than its view",
    ForgetsATag: "does not survive its encoding",
    MutatesItsState: "changed in place",
    ReadsCarelessly: "is read as",
    NeverStopsAwaiting: "exactly while the deal is on",
}
