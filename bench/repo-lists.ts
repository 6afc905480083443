import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/create-personal-access-token.ts";
import { createUser } from "#core/accounts/users/create-user.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { writeCursor } from "#core/hub/repos/list-cursor.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { handleApi } from "../api/index.ts";

/**
 * Lists of repositories with 100,000 of them: each stays under 50 ms of server time, and none reads the whole table.
 * `node bench/repo-lists.ts`, or as part of `npm run bench`.
 */
const REPOS = 100_000;
const AIM_MS = 50;
const REQUESTS = 60;

const directory = mkdtempSync(join(tmpdir(), "keyhook-bench-"));
provideSettings({ DATA_DIR: directory, LOG_LEVEL: "fatal" });
const instance = await openInstance();
const server = createServer((req, res) => void handleApi(req, res));
let isGood = true;
try {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provideSettings({ ORIGIN: origin });
  const { token, username } = await fill();
  const deep = writeCursor({ at: new Date(Date.now() - 75_000 * 1000), id: "0".repeat(24) });
  const lists: [name: string, path: string, token?: string][] = [
    ["latest", "/api/models?limit=30"],
    ["latest, with a token", "/api/models?limit=30", token],
    ["latest, 1,000 of them", "/api/models?limit=1000"],
    ["latest made", "/api/models?limit=30&sort=createdAt"],
    ["far down", `/api/models?limit=30&cursor=${deep}`, token],
    ["of one with 10,000", `/api/models?limit=30&author=${username}`, token],
    ["of one with 10,000, public only", `/api/models?limit=30&author=${username}`],
    ["of one with 60", "/api/datasets?limit=30&author=owner-77", token],
    ["a common word", "/api/models?limit=30&search=tide", token],
    ["a rare word", "/api/models?limit=30&search=r99998", token],
    ["a word that no name has", "/api/models?limit=30&search=zeppelin", token],
    ["two letters", "/api/models?limit=30&search=ti", token],
    ["two letters that begin no name", "/api/models?limit=30&search=zz", token],
    ["a common tag", "/api/models?limit=30&filter=sea", token],
    ["a rare tag", "/api/models?limit=30&filter=only-70000", token],
    ["a tag that none has", "/api/models?limit=30&filter=nowhere", token],
    ["counts of one with 10,000", `/api/users/${username}/overview`, token],
  ];
  console.log(
    `${REPOS.toLocaleString("en")} repositories; server time of a page, aim: under ${AIM_MS} ms and no scan of the table`,
  );
  console.log("                                   p50 ms   p99 ms  scans");
  for (const [name, path, withToken] of lists) {
    const { p50, p99, scans } = await measure(origin + path, withToken);
    isGood &&= p50 < AIM_MS && scans === 0;
    console.log(`${name.padEnd(34)} ${p50.toFixed(1).padStart(7)} ${p99.toFixed(1).padStart(8)} ${String(scans).padStart(6)}`);
  }
} finally {
  server.closeAllConnections();
  server.close();
  await instance.close();
  rmSync(directory, { recursive: true, force: true });
}
process.exit(isGood ? 0 : 1);

/** A thousand owners, one of them with a tenth of everything, a third of it private. */
async function fill(): Promise<{ token: string; username: string }> {
  const person = { username: "mara", email: "mara@example.test", password: "a lantern over the quay" };
  const { id, username } = await createUser(operatorCommand, person, noOrigin);
  const scopes = ["read-repos"];
  const { token } = await createPersonalAccessToken(
    operatorCommand,
    id,
    { name: "bench", scopes, expiresInDays: null },
    noOrigin,
  );
  await pool().query(
    `INSERT INTO organization (id, name, full_name)
       SELECT 'a' || lpad(to_hex(n), 23, '0'), 'owner-' || n, 'Owner ' || n FROM generate_series(1, 1000) n`,
  );
  await pool().query("INSERT INTO handle (handle, org_id) SELECT name, id FROM organization");
  // Of these the person is a member, so that what is private in them is looked for as well.
  await pool().query(
    `INSERT INTO membership (org_id, user_id, role) SELECT id, $1, 'read' FROM organization WHERE name LIKE 'owner-7%'`,
    [id],
  );
  await pool().query(
    `INSERT INTO repo (id, type, owner_id, owner_kind, name, name_canonical, is_private, tags, created_at, updated_at)
       SELECT 'b' || lpad(to_hex(n), 23, '0'), CASE WHEN n % 4 = 1 THEN 'dataset' ELSE 'model' END,
              CASE WHEN n % 10 = 0 THEN $1 ELSE 'a' || lpad(to_hex(1 + n % 1000), 23, '0') END,
              CASE WHEN n % 10 = 0 THEN 'user' ELSE 'organization' END,
              word || '-r' || n, word || '-r' || n, n % 3 = 0,
              CASE WHEN n % 2 = 0 THEN ARRAY['sea', 'only-' || n] ELSE ARRAY['land'] END,
              now() - make_interval(secs => n), now() - make_interval(secs => n)
         FROM (SELECT n, (ARRAY['tide', 'moon', 'harbour', 'gull'])[1 + n % 4] AS word FROM generate_series(1, $2::int) n) numbers`,
    [id, REPOS],
  );
  await asOwner("VACUUM ANALYZE repo");
  return { token, username };
}

async function measure(url: string, token?: string): Promise<{ p50: number; p99: number; scans: number }> {
  const headers = token ? { authorization: `Bearer ${token}` } : undefined;
  const times: number[] = [];
  const before = await scansSoFar();
  for (let asked = 0; asked < REQUESTS + 5; asked++) {
    const started = performance.now();
    const response = await fetch(url, { headers });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
    // Five without a clock: compiled code, open connections, prepared statements.
    if (asked >= 5) times.push(performance.now() - started);
  }
  const sorted = times.sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), scans: (await scansSoFar()) - before };
}

/** How often the whole table was read, by whatever connection. */
async function scansSoFar(): Promise<number> {
  // Connections tell what they did when they are idle, at most once a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await Promise.all(Array.from({ length: 10 }, () => pool().query("SELECT pg_stat_force_next_flush()")));
  const { rows } = await pool().query<{ scans: number }>(
    "SELECT seq_scan::int AS scans FROM pg_stat_user_tables WHERE relname = 'repo'",
  );
  return rows[0]?.scans ?? 0;
}
