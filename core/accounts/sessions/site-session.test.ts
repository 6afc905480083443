import { afterEach, describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { isRecentlyAuthenticated, RECENT_AUTHENTICATION_SECONDS } from "../../access/may.ts";
import { db } from "../../db.ts";
import { provideSettings } from "../../env.ts";
import { newId } from "../../ids.ts";
import { reauthenticate } from "../second-step/complete-reauthentication.ts";
import { anotherSession, from, fromElsewhere, PASSWORD, signedInPerson, staleActor } from "../testing/people.ts";
import { changeEmail } from "../users/change-email.ts";
import { disableUser, enableUser } from "../users/disable-user.ts";
import { endAllSiteSessions, endOtherSiteSessions, endSiteSession, endSiteSessionByToken } from "./end-site-session.ts";
import { findSiteSession } from "./find-site-session.ts";
import { listSiteSessions } from "./list-site-sessions.ts";
import { siteSessionCookie } from "./site-session-cookie.ts";
import { SITE_SESSION_ABSOLUTE_SECONDS, SITE_SESSION_INACTIVITY_SECONDS, startSiteSession } from "./start-site-session.ts";

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
const DAY = 24 * 60 * 60;

describe("S111 the session's token and cookie", () => {
  afterEach(() => void provideSettings({ ORIGIN: "http://localhost:3000" }));

  test("the token has 256 random bits, and the database stores only its hash", async () => {
    const { id } = await signedInPerson();
    const { token } = await startSiteSession(id, from);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    const rows = await db().siteSession.findMany({ where: { userId: id } });
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test("with https the cookie is __Host-, Secure, HttpOnly, SameSite=Lax and for the whole site", () => {
    provideSettings({ ORIGIN: "https://keyhook.example" });
    expect(siteSessionCookie()).toEqual({
      name: "__Host-session",
      options: { httpOnly: true, secure: true, sameSite: "lax", path: "/", maxAge: SITE_SESSION_ABSOLUTE_SECONDS },
    });
  });

  test("with http on this machine, the cookie lacks what needs https and has the port in its name", () => {
    provideSettings({ ORIGIN: "http://localhost:4123" });
    expect(siteSessionCookie()).toMatchObject({
      name: "session-4123",
      options: { httpOnly: true, secure: false, sameSite: "lax" },
    });
  });
});

describe("S112 time limits", () => {
  test("a session that is not used for 14 days ends", async () => {
    const { token, actor } = await signedInPerson();
    expect(SITE_SESSION_INACTIVITY_SECONDS).toBe(14 * DAY);
    const session = await db().siteSession.findUniqueOrThrow({ where: { id: actor.sessionId } });
    expect(session.expiresAt.getTime() - session.createdAt.getTime()).toBeCloseTo(14 * DAY * 1000, -4);
    await db().siteSession.update({ where: { id: actor.sessionId }, data: { expiresAt: ago(1) } });
    expect(await findSiteSession(token)).toBeUndefined();
  });

  test("use extends a session, but never past 90 days after sign-in", async () => {
    const { token, actor } = await signedInPerson();
    const seen = async (createdDaysAgo: number) => {
      const data = { createdAt: ago(createdDaysAgo * DAY), lastSeenAt: ago(DAY), expiresAt: ago(-DAY) };
      await db().siteSession.update({ where: { id: actor.sessionId }, data });
      const found = await findSiteSession(token);
      return ((found?.expiresAt.getTime() ?? 0) - Date.now()) / 1000 / DAY;
    };
    expect(await seen(10)).toBeCloseTo(14, 2);
    expect(await seen(85)).toBeCloseTo(5, 2);
  });

  test("lastSeenAt is written at most once a minute", async () => {
    const { token, actor } = await signedInPerson();
    const seenAt = async () =>
      (await db().siteSession.findUniqueOrThrow({ where: { id: actor.sessionId } })).lastSeenAt.getTime();
    const started = await seenAt();
    await findSiteSession(token);
    expect(await seenAt()).toBe(started);
    await db().siteSession.update({ where: { id: actor.sessionId }, data: { lastSeenAt: ago(61) } });
    await findSiteSession(token);
    expect(await seenAt()).toBeGreaterThanOrEqual(started);
  });

  test("disabling a user ends all their sessions for good", async () => {
    const { id, token } = await signedInPerson();
    const { token: second } = await anotherSession(id);
    await disableUser(operatorCommand, id, from);
    await enableUser(operatorCommand, id, from);
    for (const ended of [token, second]) expect(await findSiteSession(ended)).toBeUndefined();
  });

  test("a session that a disabled user still has is not found", async () => {
    const { id, token } = await signedInPerson();
    await db().user.update({ where: { id }, data: { disabledAt: new Date() } });
    expect(await findSiteSession(token)).toBeUndefined();
  });
});

describe("S113 seeing and ending one's sessions", () => {
  test("the list shows live sessions with device and IP address, beginning with the last used", async () => {
    const { id, actor } = await signedInPerson();
    const { actor: latest } = await anotherSession(id);
    const { actor: ended } = await anotherSession(id);
    await endSiteSession(id, ended.sessionId);
    await db().siteSession.update({ where: { id: actor.sessionId }, data: { lastSeenAt: ago(60) } });
    const list = await listSiteSessions(id);
    expect(list.map((one) => one.id)).toEqual([latest.sessionId, actor.sessionId]);
    expect(list[0]).toMatchObject({ device: "Firefox on Linux", ip: from.ip });
    expect(JSON.stringify(list)).not.toContain("oken");
  });

  test("a user can end only their own sessions, and any other ID gets the error for a missing session", async () => {
    const { id, token, actor } = await signedInPerson();
    const other = await signedInPerson();
    for (const foreign of [other.actor.sessionId, newId(), "\0", "x".repeat(10_000)]) {
      await expect(endSiteSession(id, foreign)).rejects.toMatchObject({ code: "not_found", message: "Session not found" });
    }
    await endSiteSession(id, actor.sessionId);
    expect(await findSiteSession(token)).toBeUndefined();
    expect(await findSiteSession(other.token)).toBeDefined();
    await expect(endSiteSession(id, actor.sessionId)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a user can end all other sessions, all sessions, or the session of one token", async () => {
    const { id, token, actor } = await signedInPerson();
    const others = [await anotherSession(id), await anotherSession(id)];
    expect(await endOtherSiteSessions(id, actor.sessionId)).toBe(2);
    for (const other of others) expect(await findSiteSession(other.token)).toBeUndefined();
    expect(await findSiteSession(token)).toBeDefined();
    await endSiteSessionByToken(token);
    expect(await findSiteSession(token)).toBeUndefined();
    const { token: last } = await anotherSession(id);
    await endAllSiteSessions(id);
    expect(await findSiteSession(last)).toBeUndefined();
  });

  test("an invalid token finds nothing and causes no error", async () => {
    for (const token of ["", "\0", "\ud800", "x".repeat(100_000)]) expect(await findSiteSession(token)).toBeUndefined();
  });
});

describe("S113 recent authentication", () => {
  test("lasts for 15 minutes", () => {
    expect(RECENT_AUTHENTICATION_SECONDS).toBe(900);
    expect(isRecentlyAuthenticated({ authenticatedAt: ago(899) })).toBe(true);
    expect(isRecentlyAuthenticated({ authenticatedAt: ago(901) })).toBe(false);
  });

  test("is required for a sensitive change, which succeeds after the user has entered the password", async () => {
    const { id, token, actor } = await signedInPerson();
    await db().siteSession.update({ where: { id: actor.sessionId }, data: { authenticatedAt: ago(3600) } });
    const change = (by: typeof actor) => changeEmail(by, { email: `new-${id}@example.test` }, fromElsewhere());
    await expect(change(staleActor(actor))).rejects.toMatchObject({ code: "reauthentication_required", status: 403 });

    const renewed = await reauthenticate(actor, PASSWORD, fromElsewhere());
    expect(renewed.token).not.toBe(token);
    expect(await findSiteSession(token)).toBeUndefined();
    const session = await findSiteSession(renewed.token);
    expect(session?.id).toBe(actor.sessionId);
    expect(isRecentlyAuthenticated(session as NonNullable<typeof session>)).toBe(true);
    await change({ ...actor, authenticatedAt: session?.authenticatedAt as Date });
  });

  test("S115 cannot be forced with a stolen session, because attempts with the password are limited", async () => {
    const { actor, token } = await signedInPerson();
    for (let i = 0; i < 10; i++) {
      await expect(reauthenticate(actor, "some other words", fromElsewhere())).rejects.toMatchObject({
        code: "unauthorized",
        field: "password",
      });
    }
    await expect(reauthenticate(actor, PASSWORD, fromElsewhere())).rejects.toMatchObject({ code: "rate_limited" });
    expect(await findSiteSession(token)).toBeDefined();
  });

  test("cannot bring back an ended session", async () => {
    const { id, actor } = await signedInPerson();
    await endSiteSession(id, actor.sessionId);
    await expect(reauthenticate(actor, PASSWORD, fromElsewhere())).rejects.toMatchObject({ code: "unauthorized" });
  });
});
