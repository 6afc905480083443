import { expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { userWithPassword } from "#core/accounts/testing/people.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { createApp } from "../apps/create-app.ts";
import { alertOnBursts, BURST_EXCHANGES, BURST_REFUSALS } from "./alert-on-bursts.ts";

async function boundApp() {
  const username = `a-${newId()}`;
  const email = `${username}@example.test`;
  const { id } = await userWithPassword({ username, email, password: "a long enough passphrase", fullName: username }, noOrigin);
  const orgId = newId();
  await db().organization.create({ data: { id: orgId, name: orgId, fullName: "Night Watch", plan: "enterprise" } });
  await db().membership.create({ data: { orgId, userId: id, role: "admin" } });
  const input = { owner: { orgId }, isBound: true, name: "Heron", redirectUris: [], scopes: ["openid"] };
  const { app } = await createApp(operatorCommand, input, noOrigin);
  const entries = (type: "exchange" | "exchange_refused", count: number, minutesAgo = 1) => db().$executeRaw`
    INSERT INTO audit_event (id, type, org_id, client_id, created_at)
    SELECT substr(md5(random()::text), 1, 24), ${`oauth_token.${type}`}, ${orgId}, ${app.clientId},
      now() - make_interval(mins => ${minutesAgo}::int) FROM generate_series(1, ${count}::int)`;
  return { app, orgId, email, entries };
}

const alertsOf = async ({ app }: { app: { clientId: string } }) =>
  (await alertOnBursts()).filter(({ clientId }) => clientId === app.clientId);
const emailsTo = (email: string) => db().mail.findMany({ where: { recipient: email } });

test("S96 administrators get one email a day about twenty refusals in ten minutes", async () => {
  const at = await boundApp();
  await at.entries("exchange_refused", BURST_REFUSALS, 15);
  await at.entries("exchange_refused", BURST_REFUSALS - 1);
  expect(await alertsOf(at)).toEqual([]);
  await at.entries("exchange_refused", 1);
  const rounds = await Promise.all([alertsOf(at), alertsOf(at), alertsOf(at)]);
  expect(rounds.flat()).toMatchObject([{ issued: 0, refused: BURST_REFUSALS, name: "Heron" }]);
  const [email, ...more] = await emailsTo(at.email);
  expect(more).toEqual([]);
  expect(email).toMatchObject({ subject: "Unusually many token exchanges by Heron" });
  expect(email?.text).toContain(`/settings/applications/${at.app.id}`);
  const where = { orgId: at.orgId, type: "oauth_token.exchange_burst" };
  expect(await db().auditEvent.findMany({ where })).toMatchObject([{ data: { refused: BURST_REFUSALS, minutes: 10 } }]);

  await at.entries("exchange_refused", BURST_REFUSALS);
  expect(await alertsOf(at)).toEqual([]);
  await db().throttle.update({ where: { key: `exchange-burst:${at.app.id}` }, data: { resetAt: new Date(0) } });
  expect(await alertsOf(at)).toHaveLength(1);
});

test("S96 administrators get an email about many exchanges only if these are unusual for the app", async () => {
  const [quiet, busy] = [await boundApp(), await boundApp()];
  const day = new Date(Date.now() - 86_400_000);
  await db().oAuthAppUsage.create({ data: { clientId: busy.app.clientId, day, tokens: 7 * 144 * 50 } });
  for (const at of [quiet, busy]) await at.entries("exchange", BURST_EXCHANGES - 1);
  expect([...(await alertsOf(quiet)), ...(await alertsOf(busy))]).toEqual([]);
  for (const at of [quiet, busy]) await at.entries("exchange", 100);
  const told = await alertOnBursts();
  expect(told.map(({ clientId }) => clientId)).toEqual([quiet.app.clientId]);
  await busy.entries("exchange", 200);
  expect(await alertsOf(busy)).toHaveLength(1);
});
