import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import {
  endAllSiteSessions,
  endExpiredSiteSessions,
  endOtherSiteSessions,
  endSiteSession,
  endSiteSessionByToken,
} from "#core/accounts/sessions/end-site-session.ts";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { deleteUser } from "#core/accounts/users/delete-user.ts";
import { disableUser } from "#core/accounts/users/disable-user.ts";
import { signIn as signInWithPassword } from "#core/accounts/users/sign-in.ts";
import { ENTRIES_ABOUT_IN_APP } from "#core/audit/record-about-somebody.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { newId } from "#core/ids.ts";
import { claimRows } from "#core/postgres/leased-table.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { ask, claimsOf } from "../testing/authorization.ts";
import { startReceiver, startSlowReceiver, work } from "../testing/logout.ts";
import { type Prepared, prepare, type SignIn, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { deliverLogoutNotice } from "./deliver-logout-notice.ts";
import {
  endEngineSessions,
  logoutNoticeTable,
  OPEN_OF_USER_MAX,
  type QueuedLogoutNotice,
  queueLogoutNotices,
  SENT_OF_APP_MAX,
} from "./queue-logout-notices.ts";

const world = await startWorld();
afterAll(() => world.stop());
beforeEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" }));
afterEach(async () => {
  await db().oAuthLogoutNotice.deleteMany();
  await db().siteSessionEnd.deleteMany();
});

const siteToken = ({ browser }: Pick<Prepared, "browser">) =>
  new RegExp(`${siteSessionCookie().name}=([^;]+)`).exec(browser.cookieHeader("/"))?.[1] ?? "";
const notices = () => db().oAuthLogoutNotice.findMany({ orderBy: { createdAt: "asc" } });
const BLOCKED = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
const appsInSessions = async ({ person }: Pick<Prepared, "person">) =>
  (
    await pool().query(
      "select from oauth_artifact where model = 'Session' and account_id = $1 and payload -> 'authorizations' <> '{}'",
      [person.id],
    )
  ).rowCount;
const becomeDue = () => pool().query("update oauth_logout_notice set due_at = now() - interval '1 second'");

async function signedIn(statuses?: number[]) {
  const receiver = await startReceiver(world.origin, statuses);
  const at = await signIn(world, { backchannelLogoutUri: receiver.uri });
  const { sid } = claimsOf(at.tokens.id_token);
  return { at, receiver, sid };
}

describe("an app that is notified of logouts", () => {
  test("finds the feature in discovery", async () => {
    expect(await world.discover()).toMatchObject({
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    });
  });

  test("has the session's `sid` in its ID tokens", async () => {
    const { at, sid } = await signedIn();
    expect(sid).toEqual(expect.any(String));
    const again = await world.signInWith(at.app, at.session, at.browser);
    expect(claimsOf(again.tokens.id_token ?? "").sid).toBe(sid);

    const plain = await signIn(world);
    expect(claimsOf(plain.tokens.id_token)).not.toHaveProperty("sid");
  });
});

const ways: Record<string, (at: SignIn) => Promise<unknown>> = {
  "signing out": (at) => endSiteSessionByToken(siteToken(at)),
  "ending it in settings": (at) => endSiteSession(at.person.id, at.session.id),
  "ending all others in settings, or changing the password": (at) => endOtherSiteSessions(at.person.id, newId()),
  "resetting the password": (at) => endAllSiteSessions(at.person.id),
  expiry: async (at) => {
    await db().siteSession.update({ where: { id: at.session.id }, data: { expiresAt: new Date(Date.now() - 1000) } });
    await endExpiredSiteSessions();
  },
  "the operator who disables the person": (at) => disableUser(operatorCommand, at.person.id, noOrigin),
  "somebody else who signs in in the same browser": async (at) => {
    const other = await world.user(`o-${newId()}`);
    await signInWithPassword({ login: other.username, password: "a long enough passphrase", replaces: siteToken(at) }, noOrigin);
  },
};

describe("S109 an app gets a logout notice when a site session ends", () => {
  test.each(Object.entries(ways))("by %s", async (_way, end) => {
    const { at, receiver, sid } = await signedIn();
    const other = await signedIn();
    await end(at);
    await work();
    expect(receiver.told).toEqual([
      {
        iss: world.origin,
        aud: at.app.clientId,
        sub: at.person.id,
        sid,
        events: { "http://schemas.openid.net/event/backchannel-logout": {} },
        jti: expect.any(String),
        iat: expect.any(Number),
        exp: expect.any(Number),
      },
    ]);
    expect(receiver.seen.contentType).toBe("application/x-www-form-urlencoded");
    expect(other.receiver.told).toEqual([]);
    expect(await notices()).toMatchObject([{ sentAt: expect.any(Date), failedAt: null }]);
    await work();
    expect(receiver.seen.requests).toBe(1);
  });

  test("by the deletion of the user", async () => {
    const receiver = await startReceiver(world.origin);
    const owner = await prepare(world, { backchannelLogoutUri: receiver.uri });
    const person = await world.user(`d-${newId()}`);
    const browser = world.browser();
    await world.signInWith(owner.app, await world.signIn(browser, person), browser);
    await deleteUser(operatorCommand, person.id, noOrigin);
    await work();
    expect(receiver.told).toMatchObject([{ sub: person.id }]);
  });

  test("by a sign-out through another app", async () => {
    const { at, receiver, sid } = await signedIn();
    const page = await at.browser.fetch("/oauth/logout");
    const xsrf = /name="xsrf" value="(\w+)"/.exec(await page.text())?.[1] ?? "";
    const done = await at.browser.fetch("/oauth/logout/confirm", {
      method: "POST",
      body: new URLSearchParams({ xsrf, logout: "yes" }),
    });
    expect(done.status).toBe(303);
    expect(await findSiteSession(siteToken(at))).toBeUndefined();
    expect(receiver.seen.requests).toBe(0);
    expect(await notices()).toMatchObject([{ clientId: at.app.clientId, sentAt: null }]);
    await work();
    expect(receiver.told).toMatchObject([{ sid }]);
    expect(receiver.seen.requests).toBe(1);
  });

  test("once for each app of the session that registered for notices", async () => {
    const { at, receiver, sid } = await signedIn();
    const second = await startReceiver(world.origin);
    const secondApp = await world.app(at.person, { backchannelLogoutUri: second.uri });
    const quiet = await world.app(at.person);
    for (const app of [secondApp, quiet]) await world.signInWith(app, at.session, at.browser);
    await endAllSiteSessions(at.person.id);
    await work();
    expect(receiver.told).toMatchObject([{ sid, aud: at.app.clientId }]);
    expect(second.told).toMatchObject([{ aud: secondApp.clientId, sub: at.person.id }]);
    expect(second.told[0]?.sid).not.toBe(sid);
    expect(await notices()).toHaveLength(2);
  });

  test("even if the app has a metadata document", async () => {
    const [listening, quiet] = ["https://app.example/client", "https://app.example/quiet"];
    const at = await prepare(world);
    const now = new Date();
    const document = { host: "app.example", fetchedAt: now, freshUntil: now };
    await db().oAuthClientDocument.createMany({
      data: [
        { clientId: listening, metadata: { backchannel_logout_uri: "https://app.example/out" }, ...document },
        { clientId: quiet, metadata: {}, ...document },
      ],
    });
    const payload = {
      siteSessionId: at.session.id,
      authorizations: { [listening]: { sid: "one" }, [quiet]: { sid: "two" }, "https://app.example/unknown": { sid: "three" } },
    };
    await db().oAuthArtifact.create({ data: { model: "Session", idHash: newId(), accountId: at.person.id, payload } });
    await endAllSiteSessions(at.person.id);
    await endEngineSessions();
    expect(await notices()).toMatchObject([{ clientId: listening, sid: "one", userId: at.person.id }]);
  });

  test("and is removed from the engine's session", async () => {
    const { at } = await signedIn();
    expect(await appsInSessions(at)).toBe(1);
    await endAllSiteSessions(at.person.id);
    await work();
    expect(await appsInSessions(at)).toBe(0);
    expect(await ask(at, { prompt: "none" })).toMatchObject({ answer: { error: "login_required" } });
  });

  test("even if a request stores the engine's session again after the end", async () => {
    const { at, receiver, sid } = await signedIn();
    const worker = await pool().connect();
    await worker.query("begin");
    await worker.query("select from oauth_artifact where model = 'Session' and account_id = $1 for update", [at.person.id]);
    const request = ask(at, { prompt: "none" });
    await expect.poll(async () => (await pool().query(BLOCKED)).rowCount).toBe(1);
    await endAllSiteSessions(at.person.id);
    await worker.query("delete from oauth_artifact where model = 'Session' and account_id = $1", [at.person.id]);
    await worker.query("delete from site_session_end");
    await worker.query("commit");
    worker.release();
    expect(await request).toMatchObject({ answer: { code: expect.any(String) } });
    await work();
    expect(receiver.told).toMatchObject([{ sid }]);
    expect(await appsInSessions(at)).toBe(0);
  });
});

describe("signing in again", () => {
  test("as the same user in the same browser ends no session", async () => {
    const { at, receiver } = await signedIn();
    const login = { login: at.person.username, password: "a long enough passphrase", replaces: siteToken(at) };
    const { token } = await signInWithPassword(login, noOrigin);
    expect(await findSiteSession(siteToken(at))).toBeUndefined();
    expect((await findSiteSession(token))?.id).toBe(at.session.id);
    at.browser.setCookie(siteSessionCookie().name, token);
    await work();
    expect(await ask(at, { prompt: "none" })).toMatchObject({ status: 303, answer: { code: expect.any(String) } });
    expect(receiver.seen.requests).toBe(0);
  });

  test("after signing out starts a session with another `sid`", async () => {
    const { at, receiver, sid } = await signedIn();
    await endSiteSessionByToken(siteToken(at));
    const session = await world.signIn(at.browser, at.person);
    const again = await world.signInWith(at.app, session, at.browser);
    const { sid: second } = claimsOf(again.tokens.id_token ?? "");
    expect(second).not.toBe(sid);
    await work();
    expect(receiver.told).toMatchObject([{ sid }]);
    await endAllSiteSessions(at.person.id);
    await work();
    expect(receiver.told).toMatchObject([{ sid }, { sid: second }]);
  });
});

describe("S109 an app that cannot be notified", () => {
  test.each([500, 503, 429])("at the moment (%d) gets a retry with a new token", async (status) => {
    const { at, receiver } = await signedIn([status, 200]);
    await endAllSiteSessions(at.person.id);
    await work();
    expect(receiver).toMatchObject({ told: [], seen: { requests: 1 } });
    const [notice] = await notices();
    expect(notice).toMatchObject({
      sentAt: null,
      failedAt: null,
      attempts: 1,
      lastError: `the app responded with status ${status}`,
      claimId: null,
    });
    expect((notice?.dueAt.getTime() ?? 0) - Date.now()).toBeGreaterThan(2_000);
    await work();
    expect(receiver.seen.requests).toBe(1);
    await becomeDue();
    await work();
    expect(receiver.told).toHaveLength(1);
    expect(await notices()).toMatchObject([{ sentAt: expect.any(Date), attempts: 2, lastError: null }]);
  });

  test.each([400, 404, 302])("because it refuses (%d) gets no retry", async (status) => {
    const { at, receiver } = await signedIn([status]);
    await endAllSiteSessions(at.person.id);
    await work();
    await becomeDue();
    await work();
    expect(receiver).toMatchObject({ told: [], seen: { requests: 1 } });
    const reason = `the app responded with status ${status}`;
    expect(await notices()).toMatchObject([{ sentAt: null, failedAt: expect.any(Date), lastError: reason }]);
    const events = await db().auditEvent.findMany({ where: { type: "oauth_logout_notice.fail", clientId: at.app.clientId } });
    expect(events).toMatchObject([{ subjectId: at.person.id, data: { reason, attempts: 1 } }]);
  });

  test("adds a limited number of entries to the log (S144)", async () => {
    const { at, receiver } = await signedIn([404]);
    const where = { type: "oauth_logout_notice.fail", clientId: at.app.clientId };
    const entry = { ...where, subjectId: at.person.id };
    await db().auditEvent.createMany({ data: Array.from({ length: ENTRIES_ABOUT_IN_APP }, () => ({ id: newId(), ...entry })) });
    await endAllSiteSessions(at.person.id);
    await work();
    expect(receiver.seen.requests).toBe(1);
    expect(await notices()).toMatchObject([{ failedAt: expect.any(Date) }]);
    expect(await db().auditEvent.count({ where })).toBe(ENTRIES_ABOUT_IN_APP);
  });

  test("is abandoned within an hour", async () => {
    const { at, receiver } = await signedIn(Array(20).fill(503));
    await endAllSiteSessions(at.person.id);
    let waitedSeconds = 0;
    for (let attempt = 0; attempt < 10; attempt++) {
      await work();
      const [notice] = await notices();
      if (notice?.failedAt) break;
      waitedSeconds += ((notice?.dueAt.getTime() ?? 0) - Date.now()) / 1000;
      await becomeDue();
    }
    expect(receiver.seen.requests).toBe(6);
    expect(waitedSeconds).toBeGreaterThan(30 * 60);
    expect(waitedSeconds).toBeLessThan(60 * 60);
    expect(await notices()).toMatchObject([{ failedAt: expect.any(Date), claimId: null }]);
  });

  test("is abandoned after three quarters of an hour, even if the first attempt was late", async () => {
    const { at, receiver } = await signedIn([503, 503]);
    await endAllSiteSessions(at.person.id);
    await endEngineSessions();
    await pool().query("update oauth_logout_notice set created_at = now() - interval '46 minutes'");
    await work();
    expect(receiver.seen.requests).toBe(1);
    expect(await notices()).toMatchObject([{ failedAt: expect.any(Date), attempts: 1 }]);
  });

  test("because its URL is internal gets no connection", async () => {
    const { at, receiver } = await signedIn();
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
    await endAllSiteSessions(at.person.id);
    await work();
    expect(receiver.seen.requests).toBe(0);
    expect(await notices()).toMatchObject([{ failedAt: expect.any(Date), lastError: "the host is not on the public internet" }]);
  });

  test("because it removed its URL gets at most one more request", async () => {
    const { at, receiver } = await signedIn();
    await endAllSiteSessions(at.person.id);
    await endEngineSessions();
    await db().oAuthApp.update({ where: { id: at.app.id }, data: { backchannelLogoutUri: null } });
    await pool().query("select pg_notify('oauth_app', $1)", [at.app.clientId]);
    await expect
      .poll(async () => {
        await becomeDue();
        await work();
        return (await notices())[0]?.failedAt ?? (await notices())[0]?.sentAt;
      })
      .toEqual(expect.any(Date));
    expect(receiver.seen.requests).toBeLessThanOrEqual(1);
  });
});

describe("S109 an app that answers slowly", () => {
  const SLOTS = 32;

  test.each(["one app of many users", "one user of many apps"])(
    "%s has a limited number of notices in progress",
    async (whose) => {
      const slow = await startSlowReceiver();
      const at = await prepare(world, { backchannelLogoutUri: slow.uri });
      const isOneApp = whose.startsWith("one app");
      const owed = await Promise.all(
        Array.from({ length: SENT_OF_APP_MAX + 3 }, async () => ({
          clientId: isOneApp ? at.app.clientId : (await world.app(at.person, { backchannelLogoutUri: slow.uri })).clientId,
          userId: isOneApp ? newId() : at.person.id,
          sid: newId(),
        })),
      );
      await queueLogoutNotices(db(), owed);
      const other = await signedIn();
      await endAllSiteSessions(other.at.person.id);
      await endEngineSessions();

      const { claimId, rows } = await claimRows<QueuedLogoutNotice>(logoutNoticeTable, SLOTS);
      const delivering = Promise.all(rows.map((row) => deliverLogoutNotice(row, claimId)));
      await expect.poll(() => other.receiver.told).toHaveLength(1);
      await expect.poll(() => slow.waiting).toHaveLength(SENT_OF_APP_MAX);
      const free = SLOTS - SENT_OF_APP_MAX;
      expect((await claimRows(logoutNoticeTable, free)).rows).toEqual([]);
      expect(await db().oAuthLogoutNotice.count({ where: { sentAt: null, claimId: null, attempts: 0 } })).toBe(3);
      slow.letGo();
      await delivering;
      await work();
      expect((await notices()).every(({ sentAt, attempts }) => sentAt !== null && attempts === 1)).toBe(true);
    },
  );

  test("gives a user who holds no slot precedence over users who hold many", async () => {
    const crowd = Array.from({ length: 4 }, () => newId());
    await queueLogoutNotices(
      db(),
      crowd.flatMap((userId) => Array.from({ length: 20 }, () => ({ clientId: newId(), userId, sid: newId() }))),
    );
    const held = await claimRows<QueuedLogoutNotice>(logoutNoticeTable, SLOTS);
    const perPerson = Map.groupBy(held.rows, ({ user_id }) => user_id);
    expect([...perPerson.values()].map(({ length }) => length).sort()).toEqual([7, 8, 8, 8]);
    const late = { clientId: newId(), userId: newId(), sid: newId() };
    await queueLogoutNotices(db(), [late]);
    await db().oAuthLogoutNotice.update({ where: { id: held.rows[0]?.id ?? "" }, data: { sentAt: new Date() } });
    const { rows } = await claimRows<QueuedLogoutNotice>(logoutNoticeTable, 1, 2);
    expect(rows).toMatchObject([{ user_id: late.userId }]);
  });
});

describe("S109 a user who signs in and out all day", () => {
  test("has a limited number of open notices, of which the oldest are abandoned", async () => {
    const [userId, other] = [newId(), newId()];
    const noticesOf = (whose: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({ clientId: newId(), userId: whose, sid: `${n}` }));
    await queueLogoutNotices(db(), noticesOf(userId, 2));
    const { rows } = await claimRows<QueuedLogoutNotice>(logoutNoticeTable, 1);
    await queueLogoutNotices(db(), [...noticesOf(other, 1), ...noticesOf(userId, OPEN_OF_USER_MAX)]);
    expect(await db().oAuthLogoutNotice.count({ where: { userId } })).toBe(OPEN_OF_USER_MAX + 1);
    expect(await db().oAuthLogoutNotice.count({ where: { userId: other } })).toBe(1);
    expect(await db().oAuthLogoutNotice.count({ where: { id: rows[0]?.id ?? "" } })).toBe(1);
  });

  test("has one notice for sessions that an app cannot distinguish", async () => {
    const receiver = await startReceiver(world.origin);
    const at = await prepare(world, { backchannelLogoutUri: receiver.uri });
    const payload = { siteSessionId: at.session.id, authorizations: { [at.app.clientId]: {} } };
    const stored = { model: "Session", accountId: at.person.id, payload };
    await db().oAuthArtifact.createMany({ data: [newId(), newId()].map((idHash) => ({ ...stored, idHash })) });
    await endAllSiteSessions(at.person.id);
    await endEngineSessions();
    expect(await notices()).toMatchObject([{ clientId: at.app.clientId, sid: null }]);
  });
});

describe("S122 a worker that dies", () => {
  test("between claim and response leaves the notice to another worker", async () => {
    const { at, receiver } = await signedIn();
    await endAllSiteSessions(at.person.id);
    await endEngineSessions();
    const dead = await claimRows<QueuedLogoutNotice>(logoutNoticeTable, 10);
    expect(dead.rows).toHaveLength(1);
    await work();
    expect(receiver.seen.requests).toBe(0);
    await pool().query("update oauth_logout_notice set claimed_until = now()");
    await work();
    expect(receiver.told).toHaveLength(1);
    const [told] = await notices();
    for (const row of dead.rows) await deliverLogoutNotice(row, dead.claimId);
    expect((await notices())[0]).toEqual(told);
  });

  test("while it ends the engine's sessions leaves them to another worker", async () => {
    const { at, receiver } = await signedIn();
    await endAllSiteSessions(at.person.id);
    await asOwner("alter table oauth_logout_notice add constraint refuse_all check (false) not valid");
    await expect(endEngineSessions()).rejects.toThrow();
    await asOwner("alter table oauth_logout_notice drop constraint refuse_all");
    await work();
    expect(receiver.told).toHaveLength(1);
  });
});
