// Two socket.io clients at one table of socketio_server.py.
import { io } from "socket.io-client";

export async function sit(port, number, shown) {
  const players = [];
  for (const seat of [0, 1]) {
    const socket = io(`http://127.0.0.1:${port}`, { transports: ["websocket"], forceNew: true });
    socket.on("state", ({ moves, turn, hand }) => shown(seat, moves, turn, hand));
    await new Promise((done) => { socket.once("connect", done); });
    socket.emit("join", `table-${number}`);
    players.push((card) => socket.emit("play", card));
  }
  return players;
}
