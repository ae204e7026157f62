// The load: TABLES tables of two seats on one peer, through the peer's own client library.
//
// Arguments: driver, port, number of tables. When all sit it says {"ready": true}; then it is told on standard input, a
// line of JSON each time, {"rate": moves a second and table, or 0 for as fast as they go, "seconds": how long}, and says
// {"began": true} and, after that time, {"moves", "seconds", "cpu", "p50", "p99", "max"} (milliseconds, from when
// a move was due to when both seats had seen it, so that a server that falls behind is not spared).
import { createInterface } from "node:readline";

const [driver, port, count] = process.argv.slice(2);
const { sit } = await import(`./${driver}_client.mjs`);

const now = () => performance.now();
let run = null; // {every: ms or 0, until, moves, latencies}

class Table {
  constructor(number) {
    this.number = number;
    this.seats = [];
    this.seen = [-1, -1];
    this.move = 0; // the number of moves that both have seen
    this.due = null; // when the move under way was due
    this.next = Infinity; // when the next is due
  }

  /** `seat` has been shown that `moves` have been made, that it is the turn of `turn`, and has `hand`. */
  shown(seat, moves, turn, hand) {
    this.seen[seat] = moves;
    this.turn = turn;
    this.seats[seat].hand = hand;
    if (this.seen[0] !== moves || this.seen[1] !== moves || moves <= this.move) return;
    this.move = moves;
    if (run !== null && this.due !== null && now() < run.until) {
      run.moves += 1;
      run.latencies.push(now() - this.due);
    }
    this.due = null;
    if (run !== null && run.every === 0) this.play(now());
    else this.playDue();
  }

  play(due) {
    this.due = due;
    const { hand, play } = this.seats[this.turn];
    play(hand[0]);
  }

  playDue() {
    if (run === null || this.due !== null || this.next > now()) return;
    const due = this.next;
    this.next += run.every;
    this.play(due);
  }
}

const tables = Array.from({ length: Number(count) }, (_, number) => new Table(number));

async function open(table) {
  for (let seat = 0; seat < 2; seat += 1) table.seats.push({ hand: null, play: null });
  const players = await sit(Number(port), table.number, (seat, ...what) => table.shown(seat, ...what));
  players.forEach((play, seat) => { table.seats[seat].play = play; });
  while (table.seats.some(({ hand }) => hand === null) || table.seen[0] !== table.seen[1]) {
    await new Promise((done) => setTimeout(done, 5));
  }
}

async function measure({ rate, seconds }) {
  while (tables.some((table) => table.due !== null)) await new Promise((done) => setTimeout(done, 5)); // of the last time
  const every = rate === 0 ? 0 : 1000 / rate;
  const start = now();
  run = { every, until: start + seconds * 1000, moves: 0, latencies: [] };
  const before = process.cpuUsage();
  console.log(JSON.stringify({ began: true }));
  let ticking;
  tables.forEach((table, number) => { table.next = start + (every * number) / tables.length; });
  if (every === 0) tables.forEach((table) => { if (table.due === null) table.play(now()); });
  else ticking = setInterval(() => tables.forEach((table) => table.playDue()), 1);
  await new Promise((done) => setTimeout(done, seconds * 1000));
  clearInterval(ticking);
  const { moves, latencies } = run;
  run = null;
  const took = (now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  latencies.sort((one, other) => one - other);
  const at = (part) => latencies[Math.min(latencies.length - 1, Math.floor(part * latencies.length))] ?? null;
  console.log(JSON.stringify({
    moves, seconds: took, cpu: (user + system) / 1e6, p50: at(0.5), p99: at(0.99), max: at(1),
  }));
}

for (let from = 0; from < tables.length; from += 20) await Promise.all(tables.slice(from, from + 20).map(open));
console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) await measure(JSON.parse(line));
process.exit(0);
