// Two boardgame.io clients at one match of the lobby.
import { createRequire } from "node:module";
import { game } from "./boardgame_io_game.mjs";

const require = createRequire(import.meta.url);
const { Client, LobbyClient } = require("boardgame.io/client");
const { SocketIO } = require("boardgame.io/multiplayer");

export async function sit(port, number, shown) {
  const server = `http://127.0.0.1:${port}`;
  const lobby = new LobbyClient({ server });
  const { matchID } = await lobby.createMatch("table", { numPlayers: 2 });
  const players = [];
  for (const playerID of ["0", "1"]) {
    const { playerCredentials } = await lobby.joinMatch("table", matchID, { playerID, playerName: `p${playerID}` });
    const client = Client({
      game,
      multiplayer: SocketIO({ server, socketOpts: { transports: ["websocket"], forceNew: true } }),
      matchID,
      playerID,
      credentials: playerCredentials,
      debug: false,
    });
    const seat = Number(playerID);
    client.subscribe((state) => {
      if (state !== null) shown(seat, state.G.moves, Number(state.ctx.currentPlayer), state.G.players[playerID].hand);
    });
    client.start();
    players.push((card) => client.moves.play(card));
  }
  return players;
}
