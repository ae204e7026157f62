// boardgame.io as its documentation has it: Server, lobby with credentials, STRIP_SECRETS, moves that run on the server.
// Argument: port. Says {"ready": true} on standard output.
import { createRequire } from "node:module";
import { game } from "./boardgame_io_game.mjs";

const { Server } = createRequire(import.meta.url)("boardgame.io/server");
const [port] = process.argv.slice(2);
const server = Server({ games: [game], origins: [/127\.0\.0\.1/] });
const say = console.info;
console.info = () => {}; // it logs every connection
await server.run({ port: Number(port), callback: () => say(JSON.stringify({ ready: true })) });
