import { afterAll, beforeEach, expect, test } from "vitest";
import { fillAuditHour } from "#core/accounts/testing/people.ts";
import { ENTRIES_ABOUT_IN_APP } from "#core/audit/record-about-somebody.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { queueForLock } from "#core/testing/as-owner.ts";
import { ask, openQuestion, resume } from "../testing/authorization.ts";
import { type Prepared, prepare } from "../testing/sign-in.ts";
import { REDIRECT_URI, startWorld } from "../testing/world.ts";
import { denyConsent } from "./grant-consent.ts";
import { lockConsents } from "./store-answer.ts";

let at: Prepared;
const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  at = await prepare(world, { isConfidential: true });
});

test("S18 a denial leads to access_denied at the redirect URI, with state and iss", async () => {
  const question = await openQuestion(at);
  const refused = await resume(at, await denyConsent(question.at, at.session, noOrigin));
  expect(refused.status).toBe(303);
  expect(refused.location?.href.startsWith(`${REDIRECT_URI}?`)).toBe(true);
  expect(refused.answer).toEqual({
    error: "access_denied",
    error_description: "the user denied the request",
    state: "a state",
    iss: world.origin,
  });
});

test("S18 a denial is not remembered, and revokes nothing", async () => {
  const { tokens } = await world.signInWith(at.app, at.session, at.browser);
  const question = await openQuestion(at, { scope: "openid email" });
  await resume(at, await denyConsent(question.at, at.session, noOrigin));
  expect((await world.userinfo(tokens.access_token)).status).toBe(200);
  expect((await ask(at)).answer).toMatchObject({ code: expect.any(String) });
  expect((await ask(at, { scope: "openid email" })).isQuestion).toBe(true);
});

test("S18 a user who is not signed in can deny", async () => {
  const browser = world.browser();
  const asked = await ask({ ...at, browser });
  const uid = asked.location?.pathname.split("/").at(-1) ?? "";
  const cookies = { uid, cookie: browser.cookieHeader(asked.location?.href ?? "") };
  const refused = await resume({ world, browser }, await denyConsent(cookies, undefined, noOrigin));
  expect(refused.answer).toMatchObject({ error: "access_denied", state: "a state" });
  // S144: anybody could repeat this action, so it writes no entry.
  expect(await db().auditEvent.count({ where: { type: "oauth_consent.deny", clientId: at.app.clientId } })).toBe(0);
});

test("S144 a denial above the limit of entries takes effect without an entry", async () => {
  await fillAuditHour(at.person.id);
  const denied = async () => {
    const question = await openQuestion(at);
    expect((await resume(at, await denyConsent(question.at, at.session, noOrigin))).answer.error).toBe("access_denied");
    return db().auditEvent.count({ where: { type: "oauth_consent.deny", clientId: at.app.clientId } });
  };
  expect(await denied()).toBe(1);
  const person = { actorId: at.person.id, subjectId: at.person.id };
  const entry = { type: "oauth_consent.deny", ...person, clientId: at.app.clientId } as const;
  for (let each = 1; each < ENTRIES_ABOUT_IN_APP; each++) await recordAuditEvent(db(), entry);
  expect(await denied()).toBe(ENTRIES_ABOUT_IN_APP);
});

test("S25 a question can be denied once, by the account that was asked", async () => {
  const question = await openQuestion(at);
  const other = await world.signIn(world.browser(), await world.user(`b-${newId()}`));
  await expect(denyConsent(question.at, other, noOrigin)).rejects.toMatchObject({ code: "forbidden" });
  await expect(denyConsent(question.at, undefined, noOrigin)).rejects.toMatchObject({ code: "forbidden" });
  await expect(denyConsent({ ...question.at, cookie: "" }, at.session, noOrigin)).rejects.toMatchObject({ code: "gone" });
  await denyConsent(question.at, at.session, noOrigin);
  await expect(denyConsent(question.at, at.session, noOrigin)).rejects.toMatchObject({ code: "gone" });
  await expect(question.allow()).rejects.toMatchObject({ code: "gone" });
  const events = await db().auditEvent.findMany({ where: { type: "oauth_consent.deny", clientId: at.app.clientId } });
  expect(events).toMatchObject([{ actorId: at.person.id }]);
});

test("S25 parallel denials of one question write one entry", async () => {
  const question = await openQuestion(at);
  const refusals = await Promise.allSettled(Array.from({ length: 20 }, () => denyConsent(question.at, at.session, noOrigin)));
  const refused = refusals.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  expect(refused).toHaveLength(19);
  for (const reason of refused) expect(reason).toMatchObject({ code: "gone" });
  expect(await db().auditEvent.count({ where: { type: "oauth_consent.deny", clientId: at.app.clientId } })).toBe(1);
});

test("S25 an approval that waits for a lock while the user denies the request stores nothing", async () => {
  const question = await openQuestion(at);
  const consents = { userId: at.person.id, clientId: at.app.clientId };
  const lock = `SELECT pg_advisory_xact_lock(hashtextextended('consent ${consents.userId} ${consents.clientId}', 0))`;
  const [allowed, denied] = await queueForLock<unknown>(lock, [
    () => question.allow(),
    async () => {
      await denyConsent(question.at, at.session, noOrigin);
      await db().$transaction((tx) => lockConsents(tx, consents));
    },
  ]);
  await denied;
  await expect(allowed).rejects.toMatchObject({ code: "gone" });
  expect(await db().oAuthConsent.count({ where: consents })).toBe(0);
  expect(await db().oAuthGrant.count({ where: consents })).toBe(0);
  expect(await db().auditEvent.count({ where: { type: "oauth_consent.give", clientId: at.app.clientId } })).toBe(0);
  expect((await ask(at)).isQuestion).toBe(true);
});
