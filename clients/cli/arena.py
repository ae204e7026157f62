"""``fudaza arena``: players measured against each other, honestly (``docs/ai.md``).

Belongs here: the command line, the progress bar, and the words and JSON of the results.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import version
from itertools import combinations
from typing import Any, BinaryIO, Final, TextIO

import click
import msgspec

from clients.cli.arena_deals import Contest, Pair, play_pairs
from clients.cli.arena_external import BotFailed
from clients.cli.arena_figures import Cost, Result, result_of
from clients.cli.arena_players import Team, UnknownPlayer, team_of
from clients.cli.arena_plot import plot
from clients.cli.parameters import Assignment, GameName, complete_options
from clients.cli.words import _, listed
from engine.game import AnyGame, Level, OptionValue
from engine.registry import GAMES

DEALS: Final = 200


def kernels() -> str:
    """Which games' compiled search is installed here."""
    there = [game.name for game in GAMES.values() if game.kernel_available()]
    if not there:
        return _("No compiled search is installed here: expert plays as hard.")
    return _("Compiled search is installed here for: {games}.").format(games=listed(there))


@click.command("arena", epilog=kernels())
@click.argument("game", type=GameName())
@click.argument("players", nargs=-1, required=True, metavar="PLAYER PLAYER")
@click.option("--ladder", is_flag=True, help="More than two players, everyone against everyone.")
@click.option(
    "--deals",
    type=click.IntRange(min=2),
    default=DEALS,
    show_default=True,
    help="Decks; each is dealt twice, with the players exchanged.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the decks and the players.")
@click.option(
    *("-o", "--option", "--options", "options"),
    type=Assignment(),
    multiple=True,
    help="An option of the game; `fudaza rules GAME` lists them.",
)
@click.option("--rollouts", type=click.IntRange(min=1), help="For searching levels, in place of their own number.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True, help="Processes.")
@click.option("--json", "as_json", is_flag=True, help="The results as JSON.")
@click.option("--records", "archive", type=click.File("wb", lazy=False), help="Write the records of all deals.")
@click.option("--plot", "picture", type=click.File("w", encoding="utf-8", lazy=False), help="Draw the results (SVG).")
def arena(
    *,
    game: str,
    players: tuple[str, ...],
    ladder: bool,
    deals: int,
    seed: int,
    options: tuple[tuple[str, str], ...],
    rollouts: int | None,
    jobs: int,
    as_json: bool,
    archive: BinaryIO | None,
    picture: TextIO | None,
) -> None:
    """Let players of GAME play duplicate deals, and say by how much the first is ahead of the second.

    A PLAYER is `random`, a level (`easy`, `medium`, `hard`, `expert`), a level with its number of rollouts
    (`hard@300`), a yardstick (`greedy`), or the command of a program that plays as with `fudaza play --json`. Where
    sides are teams one player takes all the seats of a side; `hard+medium*3` is a mixed team.

    The same seed gives the same figures (but for times), however many jobs share the work.
    """
    rules = GAMES[game]
    if len(players) < 2 or (len(players) > 2 and not ladder):
        raise click.UsageError(_("Two players, please; or more with --ladder."))
    teams = [_team(player, rules, rollouts) for player in players]
    chosen = complete_options(rules, options)
    # The stronger over the weaker, where a ladder is given from the bottom to the top.
    matches = [(upper, lower) for lower, upper in combinations(teams, 2)] if ladder else [(teams[0], teams[1])]
    if not rules.kernel_available() and any(_searches_deeply(team) for team in teams):
        click.echo(_("The compiled search of this game is not installed: expert plays as hard."), err=True)
    results = []
    try:
        for pairing in matches:
            contest = Contest(game, chosen, pairing, seed, recorded=archive is not None)
            pairs = _played(contest, deals, jobs)
            results.append(result_of(contest, pairs))
            if archive is not None:
                archive.writelines(record + b"\n" for pair in pairs for record in pair.records)
            if not as_json:
                click.echo("\n".join(_lines(results[-1])))
    except BotFailed as failure:
        told = _("{command} failed: {why}")
        raise click.ClickException(told.format(command=shlex.join(failure.command), why=failure.why)) from failure
    if as_json:
        click.echo(msgspec.json.encode(_report(rules, chosen, seed, results)))
    if picture is not None:
        who = " · ".join(players) if ladder else _(" over ").join(players)
        title = _("{game}, {who}, {pairs} pairs, seed {seed}").format(game=game, who=who, pairs=deals, seed=seed)
        picture.write(plot(title, results))


def _team(text: str, game: AnyGame, rollouts: int | None) -> Team:
    try:
        return team_of(text, game, rollouts)
    except UnknownPlayer as unknown:
        told = _("{text} is no player: there are {known}, and commands that can be run; a team has {size} seats")
        size = game.seats // game.sides
        raise click.BadParameter(
            told.format(text=text, known=listed(unknown.known), size=size), param_hint="PLAYER"
        ) from unknown


def _searches_deeply(team: Team) -> bool:
    return any(player.level is Level.EXPERT for player in team.players)


def _played(contest: Contest, deals: int, jobs: int) -> list[Pair]:
    label = _(" over ").join(team.name for team in contest.teams)
    with click.progressbar(
        play_pairs(contest, range(deals), jobs),
        length=deals,
        label=label,
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
    ) as pairs:
        return list(pairs)


def _report(game: AnyGame, options: dict[str, OptionValue], seed: int, results: Sequence[Result]) -> dict[str, Any]:
    return {
        "game": game.name,
        "version": version("fudaza"),
        "rules_version": game.rules_version,
        "kernel": game.kernel_available(),
        "options": options,
        "seed": seed,
        "results": results,
    }


def _lines(result: Result) -> list[str]:
    deals = result.won + result.drawn + result.lost
    sign = "+" if result.equal == 0 else ""
    points = _(
        "{one} over {other}: {mean} ± {half} points a deal ({equal} is equal; trimmed mean {trimmed}; {pairs} pairs)"
    )
    ends = _("  won {won}, drawn {drawn}, lost {lost}")
    return [
        points.format(
            one=result.teams[0],
            other=result.teams[1],
            mean=f"{result.points.mean:{sign}.3f}",
            half=f"{result.points.half_width:.3f}",
            equal=f"{result.equal:g}",
            trimmed=f"{result.trimmed:{sign}.3f}",
            pairs=result.pairs,
        ),
        ends.format(
            won=f"{result.won / deals:.1%}", drawn=f"{result.drawn / deals:.1%}", lost=f"{result.lost / deals:.1%}"
        ),
        *[_cost_line(name, cost) for name, cost in zip(result.teams, result.costs, strict=True)],
    ]


def _cost_line(name: str, cost: Cost) -> str:
    line = _("  {name}: {mean} ms a decision, p99 {p99} ms ({decisions} decisions)").format(
        name=name, mean=f"{cost.mean_ms:.2f}", p99=f"{cost.p99_ms:.2f}", decisions=cost.decisions
    )
    if not cost.bad_answers:
        return line
    return line + _(", {bad} illegal answers").format(bad=cost.bad_answers)
