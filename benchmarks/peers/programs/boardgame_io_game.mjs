import { createRequire } from "node:module";
import { SEATS, dealt, played } from "./rules.mjs";

const { INVALID_MOVE, PlayerView } = createRequire(import.meta.url)("boardgame.io/core");

function state(deal, moves) {
  return {
    secret: { stock: deal.stock },
    players: { 0: { hand: deal.hands[0] }, 1: { hand: deal.hands[1] } },
    board: deal.board,
    captured: deal.captured,
    last: null,
    moves,
  };
}

function play({ G, playerID, random }, card) {
  const mine = G.players[playerID].hand;
  if (!mine.includes(card)) return INVALID_MOVE;
  mine.splice(mine.indexOf(card), 1);
  const after = played(G.board, G.secret.stock, card);
  G.board = after.board;
  G.secret.stock = after.stock;
  G.captured[playerID].push(...after.taken);
  G.moves += 1;
  G.last = { seat: playerID, card, drawn: after.drawn, taken: after.taken };
  if (G.players[0].hand.length + G.players[1].hand.length === 0) {
    const { last } = G;
    Object.assign(G, state(dealt((cards) => random.Shuffle(cards), 0), G.moves), { last });
  }
}

export const game = {
  name: "table",
  minPlayers: SEATS,
  maxPlayers: SEATS,
  setup: ({ random }) => state(dealt((cards) => random.Shuffle(cards), 0), 0),
  playerView: PlayerView.STRIP_SECRETS,
  turn: { minMoves: 1, maxMoves: 1 },
  moves: { play: { move: play, client: false } },
};
