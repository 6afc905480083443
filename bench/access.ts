import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scopes } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { handleOidc } from "#core/oauth/handler.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { countStatements } from "#core/testing/count-statements.ts";
import { handleApi } from "../api/index.ts";
import { accessToken, exchangedToken, makeApp, makeBoundApp, makeGrant, personalToken } from "../api/testing/access-world.ts";

/**
 * What the access decision of an API call costs with a warm token: statements beyond those that read the resource, aim 1, and server
 * time; in an organization of one member and of 100,000. `node bench/access.ts`, or as part of `npm run bench`.
 */
const MEMBERS = 100_000;
const REQUESTS = 200;

const directory = mkdtempSync(join(tmpdir(), "keyhook-bench-"));
provideSettings({ DATA_DIR: directory, LOG_LEVEL: "fatal" });
const instance = await openInstance();
const server = createServer((req, res) => {
  if (req.url?.startsWith("/oauth/")) void handleOidc(req, res, "127.0.0.1");
  else void handleApi(req, res);
});
let isGood = true;
try {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  provideSettings({ ORIGIN: origin });
  const mara = await signedInPerson("mara");
  const organization = await organizationOf(mara);
  await makeRepos(organization.name);
  const tokens = await makeTokens(origin, mara, organization);
  console.log("the access decision of GET /api/models/<org>/<repo>/auth-check with a warm token; aim: one round trip");
  console.log("members  token        statements  of them to decide   p50 ms   p99 ms");
  await measureAll(1);
  await addMembers(organization.id);
  await measureAll(MEMBERS);

  async function measureAll(members: number): Promise<void> {
    const path = (name: string) => `${origin}/api/models/${organization.name}/${name}/auth-check`;
    // Where there is nothing to decide: all of it is for the resource.
    const open = await measure(path("open"));
    for (const [hand, token] of Object.entries(tokens)) {
      const { statements, p50, p99 } = await measure(path("closed"), token);
      const deciding = statements - open.statements;
      // That a personal token was used is noted once a minute.
      isGood &&= deciding < 1.1;
      console.log(
        `${members.toLocaleString("en").padStart(7)}  ${hand.padEnd(10)} ${statements.toFixed(2).padStart(12)} ` +
          `${deciding.toFixed(2).padStart(18)} ${p50.toFixed(1).padStart(8)} ${p99.toFixed(1).padStart(8)}`,
      );
    }
  }
} finally {
  server.closeAllConnections();
  server.close();
  await instance.close();
  rmSync(directory, { recursive: true, force: true });
}
process.exit(isGood ? 0 : 1);

async function makeRepos(owner: string): Promise<void> {
  for (const name of ["open", "closed"]) {
    await createRepo(operatorCommand, { type: "model", owner, name, isPrivate: name === "closed" }, noOrigin);
  }
}

async function makeTokens(origin: string, person: TestPerson, { id }: { id: string }): Promise<Record<string, string>> {
  // The person is in others as well, as people are.
  for (let made = 0; made < 5; made++) await createOrganization(person.actor, { name: `other-${made}` }, noOrigin);
  return {
    personal: await personalToken(person, scopes),
    app: await accessToken(person, await makeGrant(person, await makeApp(person), [id]), scopes),
    exchanged: await exchangedToken(origin, await makeBoundApp(id), person, scopes),
  };
}

async function addMembers(orgId: string): Promise<void> {
  const id = "lpad(to_hex(n), 24, '0')";
  await pool().query(
    `INSERT INTO "user" (id, username, full_name, email, email_canonical)
       SELECT ${id}, ${id}, ${id}, ${id} || '@example.test', ${id} || '@example.test' FROM generate_series(1, $1) n`,
    [MEMBERS],
  );
  await pool().query(`INSERT INTO membership (org_id, user_id, role) SELECT $2, ${id}, 'read' FROM generate_series(1, $1) n`, [
    MEMBERS,
    orgId,
  ]);
  await asOwner(`ANALYZE membership, "user"`);
}

async function measure(url: string, token?: string): Promise<{ statements: number; p50: number; p99: number }> {
  const headers = token ? { authorization: `Bearer ${token}` } : undefined;
  const times: number[] = [];
  const ask = async () => {
    const started = performance.now();
    const response = await fetch(url, { headers });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
    times.push(performance.now() - started);
  };
  // Without a count: compiled code, open connections, prepared statements, what is kept in memory.
  for (let asked = 0; asked < 20; asked++) await ask();
  times.length = 0;
  const { statements } = await countStatements(async () => {
    for (let asked = 0; asked < REQUESTS; asked++) await ask();
  });
  const sorted = times.sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
  return { statements: statements / REQUESTS, p50: at(0.5), p99: at(0.99) };
}
