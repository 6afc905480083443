/**
 * Runs in the link's container (link.ts), which contains no other code of this service. The worker gets each connection to one of
 * the endpoints, `<name>=<port or path>`.
 */
import { chmodSync } from "node:fs";
import { connect } from "node:http2";
import { createServer } from "node:net";
import { Duplex } from "node:stream";

const endpoints = process.argv.slice(1).map((given) => [given.slice(0, given.indexOf("=")), given.slice(given.indexOf("=") + 1)]);
/** @type {import("node:http2").ClientHttp2Session} */
let session;

for (const [name, address] of endpoints) {
  const server = createServer({ allowHalfOpen: true }, (inside) => {
    const outside = session.request({ ":method": "CONNECT", ":authority": name }, { endStream: false });
    inside.on("error", () => outside.destroy()).on("close", () => outside.destroy());
    outside.on("error", () => inside.destroy()).on("close", () => inside.destroy());
    inside.pipe(outside).pipe(inside);
  });
  const where = /^\d+$/.test(address) ? { port: Number(address), host: "127.0.0.1" } : { path: address };
  await new Promise((resolve, reject) => server.once("error", reject).listen(where, () => resolve(undefined)));
  if (where.path) chmodSync(where.path, 0o666);
}

// This connection is opened last, because it tells the worker that the endpoints are ready.
const worker = Duplex.from({ readable: process.stdin, writable: process.stdout });
session = connect("http://worker", { createConnection: () => worker });
session.on("error", () => process.exit(1)).on("close", () => process.exit(0));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
