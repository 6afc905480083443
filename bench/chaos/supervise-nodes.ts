import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { childEnvironment, env, settingNames } from "#core/env.ts";
import { dataDir, lockDataDir } from "#core/instance/data-dir.ts";
import { runNodes } from "./nodes.ts";
import { KILL_FILE, type Kill, REPORT_FILE, type Report } from "./stories.ts";

/** Replaces supervisor.ts, on the same data directory and port. While KILL_FILE exists, the web processes are killed in turn. */
const EVERY_MS = 20_000;
const stopping = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopping.abort());

const given = childEnvironment();
const names = [...settingNames, "NODE_EXTRA_CA_CERTS"].filter((name) => given[name]);
const settings = Object.fromEntries(names.map((name) => [name, given[name] ?? ""]));
const records = given.CHAOS_STORIES ?? "";
// The operator's commands find the database by this directory.
const directory = dataDir();
const lock = await lockDataDir(directory, "service");
const { nodes, kill, start, stop, output, failures } = await runNodes({ directory, port: env().PORT, settings });

const kills: Kill[] = [];
const web = nodes.filter(({ kind }) => kind === "web");
let restarted: Promise<void> | undefined;
while (!stopping.signal.aborted) {
  await Promise.all([restarted, delay(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)]);
  const node = web[kills.length % web.length];
  if (stopping.signal.aborted || !node || !existsSync(join(records, KILL_FILE))) continue;
  const from = Date.now();
  await kill(node);
  kills.push({ name: node.name, from, to: Date.now() });
  restarted = start(node);
}
await stop();
lock?.release();
writeFileSync(join(records, REPORT_FILE), JSON.stringify({ kills, failures: failures(), output: output() } satisfies Report));
process.exit();
