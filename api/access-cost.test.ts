import { scopes } from "@keyhook/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { pool } from "#core/db.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { countStatements } from "#core/testing/count-statements.ts";
import { accessToken, exchangedToken, makeApp, makeBoundApp, makeGrant, personalToken } from "./testing/access-tokens.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

const MEMBERS = 20_000;

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: TestPerson;
let organization: { id: string; name: string };
let tokens: Record<"personal" | "app" | "exchanged", string>;

beforeAll(async () => {
  world = await startApiWorld();
  ada = await signedInPerson();
  organization = await organizationOf(ada);
  for (const name of ["open", "closed"]) {
    const repo = await someRepo(ada, { owner: organization.name, name, isPrivate: name === "closed" });
    await commitTo(repo, ada, { "a.txt": "a" });
  }
  tokens = {
    personal: await personalToken(ada, scopes),
    app: await accessToken(ada, await makeGrant(ada, await makeApp(ada), [organization.id]), scopes),
    exchanged: await exchangedToken(world.origin, await makeBoundApp(organization.id), ada, scopes),
  };
});
afterAll(() => world.stop());

const reads = (name: string): string[] => [
  `/api/models/${organization.name}/${name}`,
  `/api/models/${organization.name}/${name}/auth-check`,
  `/api/models/${organization.name}/${name}/tree/main`,
  `/api/models/${organization.name}/${name}/discussions`,
  `/api/models?author=${organization.name}&search=${name}`,
  `/api/collections?owner=${organization.name}`,
];

async function statementsOf(path: string, token?: string): Promise<number> {
  const ask = async () => {
    const response = await fetch(world.origin + path, { headers: token ? { authorization: `Bearer ${token}` } : {} });
    await response.arrayBuffer();
    return response.status;
  };
  // The first call also loads the app's metadata and records that the token was used.
  await ask();
  const [one, other] = [await countStatements(ask), await countStatements(ask)];
  expect([path, one.result, other.result]).toEqual([path, 200, 200]);
  // Statements that the process executes on its own may fall into one of the two requests.
  return Math.min(one.statements, other.statements);
}

async function costOfDecisions(token: string): Promise<Record<string, number>> {
  const costs: Record<string, number> = {};
  for (const [at, path] of reads("closed").entries()) {
    costs[path] = (await statementsOf(path, token)) - (await statementsOf(reads("open")[at] as string));
  }
  return costs;
}

async function pagesRead(): Promise<number> {
  const { rows } = await pool().query(
    "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT org_id, role, restrictions FROM member_standing WHERE user_id = $1",
    [ada.id],
  );
  const { Plan: plan } = rows[0]["QUERY PLAN"][0];
  return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
}

describe("the access decision of an API call with a warm token", () => {
  const one = () => Object.fromEntries(reads("closed").map((path) => [path, 1]));

  test.each(["personal", "app", "exchanged"] as const)("takes one round trip to the database: %s", async (hand) => {
    expect(await costOfDecisions(tokens[hand])).toEqual(one());
  });

  test(`costs the same with ${MEMBERS.toLocaleString("en")} members in the organization`, async () => {
    const before = await pagesRead();
    await pool().query(
      `INSERT INTO "user" (id, username, full_name, email, email_canonical)
        SELECT name, name, name, name || '@example.test', name || '@example.test'
          FROM (SELECT lpad(to_hex(n), 24, '0') AS name FROM generate_series(1, $1) n) names`,
      [MEMBERS],
    );
    await pool().query(
      `INSERT INTO membership (org_id, user_id, role) SELECT $2, lpad(to_hex(n), 24, '0'), 'read' FROM generate_series(1, $1) n`,
      [MEMBERS, organization.id],
    );
    await asOwner(`ANALYZE membership, "user"`);
    for (const hand of ["personal", "app", "exchanged"] as const) expect(await costOfDecisions(tokens[hand])).toEqual(one());
    expect(await pagesRead()).toBeLessThanOrEqual(before + 4);
  });
});
