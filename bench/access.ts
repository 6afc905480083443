import type { IncomingMessage, ServerResponse } from "node:http";
import { scopes } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { createOrganization } from "#core/accounts/organizations/create-organization.ts";
import { organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { pool } from "#core/db.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import { handleOidc } from "#core/oauth/handler.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { countStatements } from "#core/testing/count-statements.ts";
import { handleApi } from "../api/app.ts";
import { accessToken, exchangedToken, makeApp, makeBoundApp, makeGrant, personalToken } from "../api/testing/access-tokens.ts";
import { get, runOnInstance, timesOf } from "./instance.ts";

/** `node bench/access.ts`: the statements that an access decision adds (goal: 1), with one member and with 100,000. */
const MEMBERS = 100_000;
const REQUESTS = 200;

const listener = (req: IncomingMessage, res: ServerResponse) => {
  if (req.url?.startsWith("/oauth/")) void handleOidc(req, res, "127.0.0.1");
  else void handleApi(req, res);
};
await runOnInstance(
  async (origin) => {
    let isGood = true;
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
      const open = await measure(path("open"));
      for (const [hand, token] of Object.entries(tokens)) {
        const { statements, p50, p99 } = await measure(path("closed"), token);
        const deciding = statements - open.statements;
        // The limit is above 1, because the use of a personal access token is recorded once a minute.
        isGood &&= deciding < 1.1;
        console.log(
          `${members.toLocaleString("en").padStart(7)}  ${hand.padEnd(10)} ${statements.toFixed(2).padStart(12)} ` +
            `${deciding.toFixed(2).padStart(18)} ${p50.toFixed(1).padStart(8)} ${p99.toFixed(1).padStart(8)}`,
        );
      }
    }
    return isGood;
  },
  { listener, host: "localhost" },
);

async function makeRepos(owner: string): Promise<void> {
  for (const name of ["open", "closed"]) {
    await createRepo(operatorCommand, { type: "model", owner, name, isPrivate: name === "closed" }, noOrigin);
  }
}

async function makeTokens(origin: string, person: TestPerson, { id }: { id: string }): Promise<Record<string, string>> {
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
  let asked = 0;
  const ask = () => get(url, token).then(() => asked++);
  await timesOf(10, ask);
  asked = 0;
  let times = { p50: 0, p99: 0 };
  const { statements } = await countStatements(async () => {
    times = await timesOf(REQUESTS, ask);
  });
  return { statements: statements / asked, ...times };
}
