import { afterAll, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { findArtifact } from "./artifact-store.ts";
import { type RequestRows, requestRows, withRequestRows } from "./request-rows.ts";

const world = await startWorld();
afterAll(() => world.stop());

function findTogether(model: string, tokens: string[]) {
  return Promise.all(
    tokens.map((token) =>
      withRequestRows(async (): Promise<{ payload: Record<string, unknown> | undefined; rows: RequestRows }> => {
        const payload = await findArtifact(model, token);
        return { payload, rows: requestRows() };
      }),
    ),
  );
}

test("each of many simultaneous requests gets its own artifact, or none", async () => {
  const [one, other, revoked] = [await signIn(world), await signIn(world), await signIn(world)];
  await db().oAuthConsent.updateMany({ where: { clientId: revoked.app.clientId }, data: { revokedAt: new Date() } });
  const asked = Array.from({ length: 7 }, () => [
    { token: "unknown", person: undefined },
    { token: other.tokens.access_token, person: other.person.id },
    { token: revoked.tokens.access_token, person: undefined },
    { token: one.tokens.access_token, person: one.person.id },
  ]).flat();
  const found = await findTogether(
    "AccessToken",
    asked.map(({ token }) => token),
  );
  expect(found.map(({ payload }) => payload?.accountId)).toEqual(asked.map(({ person }) => person));
  expect(found.map(({ rows }) => [...rows.accounts.keys()])).toEqual(asked.map(({ person }) => (person ? [person] : [])));
});

test("two requests with one token get separate objects", async () => {
  const { tokens, person } = await signIn(world);
  const [first, second] = await findTogether("AccessToken", [tokens.access_token, tokens.access_token]);
  const grantOf = (found: typeof first) => [...(found?.rows.grants.values() ?? [])][0];
  const accountOf = (found: typeof first) => found?.rows.accounts.get(person.id);
  expect(grantOf(first)).toEqual(grantOf(second));
  expect(grantOf(first)).not.toBe(grantOf(second));
  expect(accountOf(first)).toEqual(accountOf(second));
  expect(accountOf(first)?.organizations).not.toBe(accountOf(second)?.organizations);
});
