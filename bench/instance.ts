import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { createUser } from "#core/accounts/users/create-user.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { handleApi } from "../api/app.ts";

export async function runOnInstance(
  bench: (origin: string) => Promise<boolean>,
  { settings = {}, listener = handleApi as RequestListener, host = "127.0.0.1" } = {},
): Promise<never> {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-bench-"));
  provideSettings({ DATA_DIR: directory, LOG_LEVEL: "fatal", ...settings });
  const instance = await openInstance();
  const server = createServer(listener);
  let isGood = false;
  try {
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const origin = `http://${host}:${(server.address() as AddressInfo).port}`;
    provideSettings({ ORIGIN: origin });
    isGood = await bench(origin);
  } finally {
    server.closeAllConnections();
    server.close();
    await instance.close();
    rmSync(directory, { recursive: true, force: true });
  }
  process.exit(isGood ? 0 : 1);
}

export async function userWithToken(scope: string): Promise<{ id: string; username: string; token: string }> {
  const person = { username: "mara", email: "mara@example.test", password: "a lantern over the quay" };
  const { id, username } = await createUser(operatorCommand, person, noOrigin);
  const input = { name: "bench", scopes: [scope], expiresInDays: null };
  const { token } = await createPersonalAccessToken(operatorCommand, id, input, noOrigin);
  return { id, username, token };
}

/** Ten calls that are not measured compile code, open connections and prepare statements. */
export async function timesOf(count: number, ask: () => Promise<unknown>): Promise<{ p50: number; p95: number; p99: number }> {
  for (let asked = 0; asked < 10; asked++) await ask();
  const times: number[] = [];
  for (let asked = 0; asked < count; asked++) {
    const started = performance.now();
    await ask();
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

export async function get(url: string, token?: string): Promise<void> {
  const response = await fetch(url, token ? { headers: { authorization: `Bearer ${token}` } } : {});
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${text}`);
}

export async function scansOf(tables: string): Promise<number> {
  // An idle connection reports its statistics at most once a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await Promise.all(Array.from({ length: 10 }, () => pool().query("SELECT pg_stat_force_next_flush()")));
  const { rows } = await pool().query<{ scans: number }>(
    "SELECT sum(seq_scan)::int AS scans FROM pg_stat_user_tables WHERE relname ~ $1 AND n_live_tup > 0",
    [tables],
  );
  return rows[0]?.scans ?? 0;
}
