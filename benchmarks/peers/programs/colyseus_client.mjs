// Two Colyseus clients in one room.
import { Client } from "@colyseus/sdk";

export async function sit(port, number, shown) {
  const first = await new Client(`ws://127.0.0.1:${port}`).create("table");
  const second = await new Client(`ws://127.0.0.1:${port}`).joinById(first.roomId);
  return [first, second].map((room, seat) => {
    const tell = (state) => shown(seat, state.moves, state.turn, [...(state.players[seat].hand ?? [])]);
    room.onStateChange(tell);
    if (room.state?.players?.length > 0) tell(room.state);
    return (card) => room.send("play", { card });
  });
}
