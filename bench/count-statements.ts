import { createServer } from "node:net";
import pg from "pg";

/**
 * `--import` loads this file into the service to count its statements. The database would report late, and count other work too.
 */
const { BENCH_STATEMENTS_SOCKET: path } = process.env;

if (path && process.argv[1]?.endsWith("server.ts")) {
  let count = 0;
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function counted(this: pg.Client, ...args: unknown[]) {
    count += 1;
    return Reflect.apply(query, this, args);
  } as typeof query;
  createServer((socket) => socket.end(String(count)))
    .listen(path)
    .unref();
}
