import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Logger, run, runMigrations } from "graphile-worker";
import pg from "pg";
import { Pool } from "undici";
import { provideSettings } from "#core/env.ts";
import { startEmbedded } from "#core/postgres/embedded.ts";

/** A minimal sender of webhooks that keeps a record. Each run measures both senders, because rates depend on the machine. */
export async function startPlainSender(url: string) {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-plain-"));
  provideSettings({ DATA_DIR: directory, LOG_LEVEL: "error" });
  const database = await startEmbedded(directory);
  const pool = new pg.Pool({ connectionString: database.superuserUrl });
  await pool.query("create table message (id bigserial primary key, body text not null)");
  await pool.query(
    "create table attempt (message_id bigint not null, status int not null, at timestamptz not null default now())",
  );
  await runMigrations({ connectionString: database.superuserUrl, logger: silent });
  const start = async (role: string): Promise<[ChildProcess, number]> => {
    const child = fork(import.meta.filename, [role, database.superuserUrl, url]);
    const [port] = (await once(child, "message")) as [number];
    return [child, port];
  };
  const [[web, port], [worker]] = await Promise.all([start("web"), start("worker")]);
  return {
    origin: `http://127.0.0.1:${port}`,
    pool,
    pids: { web: web.pid ?? 0, worker: worker.pid ?? 0, database: database.pid },
    async stop() {
      for (const child of [web, worker]) child.kill("SIGKILL");
      await pool.end();
      await database.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const silent = new Logger(() => () => undefined);

function serve(connectionString: string): void {
  const pool = new pg.Pool({ connectionString, max: 16 });
  const store = {
    name: "store",
    text: `with stored as (insert into message (body) values ($1) returning id)
      select graphile_worker.add_job('send', json_build_object('id', id)) from stored`,
  };
  const server = createServer(async (req, res) => {
    const body = await text(req);
    JSON.parse(body);
    await pool.query({ ...store, values: [body] });
    res.setHeader("content-type", "application/json").end('{"status":"recorded"}');
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
}

async function work(connectionString: string, url: string): Promise<void> {
  const { origin, pathname } = new URL(url);
  const target = new Pool(origin, { connections: 64, pipelining: 1 });
  await run({
    connectionString,
    concurrency: 64,
    maxPoolSize: 16,
    noHandleSignals: true,
    logger: silent,
    taskList: {
      async send(payload, { query }) {
        const { id } = payload as { id: number };
        const { rows } = await query<{ body: string }>("select body from message where id = $1", [id]);
        // As in the service's payload, the refs are at the top level.
        const { data } = JSON.parse(rows[0]?.body ?? "{}") as { data: object };
        const { statusCode, body } = await target.request({ method: "POST", path: pathname, body: JSON.stringify(data) });
        await body.text();
        await query("insert into attempt (message_id, status) values ($1, $2)", [id, statusCode]);
      },
    },
  });
  process.send?.(0);
}

if (process.argv[1] === import.meta.filename) {
  process.once("disconnect", () => process.exit());
  const [role, connectionString = "", url = ""] = process.argv.slice(2);
  if (role === "web") serve(connectionString);
  else await work(connectionString, url);
}
