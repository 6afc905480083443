import { hash } from "@node-rs/argon2";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { ENTRIES_ABOUT } from "../../audit/record-about-somebody.ts";
import { db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { log } from "../../log.ts";
import { asAnotherClient } from "../../testing/as-another-client.ts";
import { addressKey } from "../address-key.ts";
import {
  ACCOUNT_EVERYWHERE_LIMIT,
  KNOWN_BROWSERS_LIMIT,
  knownBrowsersThrottle,
  loginAtAddressThrottle,
  loginThrottle,
} from "../count-password-attempt.ts";
import { rememberDevice } from "../known-device.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { endSiteSessionByToken } from "../sessions/end-site-session.ts";
import { findSiteSession } from "../sessions/find-site-session.ts";
import { listSiteSessions } from "../sessions/list-site-sessions.ts";
import { auditTrail, freshName, fromElsewhere, outcomes, PASSWORD, signedInPerson } from "../testing/people.ts";
import { throttleCount, throttleKey } from "../throttle.ts";
import { createUser } from "./create-user.ts";
import { disableUser } from "./disable-user.ts";
import { signIn } from "./sign-in.ts";

const WRONG = { code: "unauthorized", message: "Incorrect username or password.", field: "password" };

describe("signIn", () => {
  test("accepts the username and the email address, in any spelling and with an international domain", async () => {
    const { username, email, id } = await signedInPerson();
    for (const login of [username, ` ${username.toUpperCase()} `, email, email.toUpperCase()]) {
      expect((await signIn({ login, password: PASSWORD }, fromElsewhere())).userId).toBe(id);
    }
    const name = freshName("idn");
    await createUser(operatorCommand, { username: name, email: `${name}@bücher.example`, password: PASSWORD }, fromElsewhere());
    await expect(signIn({ login: `${name}@BÜCHER.example`, password: PASSWORD }, fromElsewhere())).resolves.toBeDefined();
  });

  test("S34 continues the user's session under a new token and invalidates the old token", async () => {
    const { username, token: replaces, id } = await signedInPerson();
    const before = await findSiteSession(replaces);
    const { token } = await signIn({ login: username, password: PASSWORD, replaces }, fromElsewhere());
    expect(token).not.toBe(replaces);
    expect(await findSiteSession(replaces)).toBeUndefined();
    expect(await findSiteSession(token)).toMatchObject({ userId: id, id: before?.id });
    expect(await listSiteSessions(id)).toHaveLength(1);
  });

  test("S34 ends the browser's session if it belongs to another user", async () => {
    const other = await signedInPerson();
    const person = await signedInPerson();
    const { token } = await signIn({ login: person.username, password: PASSWORD, replaces: other.token }, fromElsewhere());
    expect(await findSiteSession(other.token)).toBeUndefined();
    expect(await findSiteSession(token)).toMatchObject({ userId: person.id });
    await endSiteSessionByToken(token);
    const next = await signIn({ login: person.username, password: PASSWORD, replaces: token }, fromElsewhere());
    expect((await findSiteSession(next.token))?.id).toEqual(expect.any(String));
    expect(await findSiteSession(token)).toBeUndefined();
  });

  test("S34 a token of the sender's choice never becomes a session", async () => {
    const { username } = await signedInPerson();
    const planted = "A".repeat(43);
    const { token } = await signIn({ login: username, password: PASSWORD, replaces: planted }, fromElsewhere());
    expect(token).not.toBe(planted);
    expect(await findSiteSession(planted)).toBeUndefined();
  });

  test("S115 an unknown account, a wrong password and an account without a password get the same response", async () => {
    const known = await signedInPerson();
    const without = await signedInPerson();
    await db().user.update({ where: { id: without.id }, data: { passwordHash: null } });
    for (const login of [
      known.username,
      known.email,
      without.username,
      freshName("nobody"),
      "nobody@example.test",
      "not@an@address",
    ]) {
      await expect(signIn({ login, password: "some other words" }, fromElsewhere())).rejects.toMatchObject(WRONG);
    }
  });

  test("S115 an unknown account costs the same hashing as a known one", async () => {
    const known = await signedInPerson();
    const logins = { wrong: known.username, unknown: freshName("nobody") };
    const times = { wrong: [] as number[], unknown: [] as number[] };
    // Alternating, so that both run under the same load.
    for (let i = 0; i < 7; i++) {
      for (const kind of ["wrong", "unknown"] as const) {
        const start = performance.now();
        await signIn({ login: logins[kind], password: "some other words" }, fromElsewhere()).catch(() => undefined);
        times[kind].push(performance.now() - start);
      }
    }
    const median = (all: number[]) => all.sort((a, b) => a - b)[3] as number;
    expect(median(times.unknown)).toBeGreaterThan(median(times.wrong) / 3);
  });

  test("S115 after ten failures of one account from one network, every further attempt is refused", async () => {
    const { username } = await signedInPerson();
    for (const login of [username, freshName("nobody")]) {
      const network = `2001:db8:${newId().slice(0, 4)}:${newId().slice(-4)}`;
      const at = (host: number) => ({ ip: `${network}::${host}`, userAgent: null });
      for (let i = 0; i < 10; i++) {
        await expect(signIn({ login, password: "some other words" }, at(i))).rejects.toMatchObject(WRONG);
      }
      await expect(signIn({ login: login.toUpperCase(), password: PASSWORD }, at(11))).rejects.toMatchObject({
        code: "rate_limited",
        retryAfterSeconds: expect.toSatisfy((seconds: number) => seconds > 0 && seconds <= 15 * 60),
      });
    }
  });

  test("S115 a stranger's wrong passwords do not lock the owner out at another IP address", async () => {
    const { username, id } = await signedInPerson();
    const stranger = fromElsewhere();
    for (let i = 0; i < 12; i++) await signIn({ login: username, password: "a guess" }, stranger).catch(() => undefined);
    await expect(signIn({ login: username, password: PASSWORD }, stranger)).rejects.toMatchObject({ code: "rate_limited" });
    await expect(signIn({ login: username, password: PASSWORD }, fromElsewhere())).resolves.toMatchObject({ userId: id });
  });

  test("S115 only a hundred guesses from all addresses together are checked, whether or not the account exists", async () => {
    const { username } = await signedInPerson();
    for (const login of [username, freshName("nobody")]) {
      const count = ACCOUNT_EVERYWHERE_LIMIT.limit - 5;
      await db().throttle.create({ data: { key: loginThrottle(login), count, resetAt: new Date(Date.now() + 60_000) } });
      const guesses = Array.from({ length: 20 }, () => signIn({ login, password: "some other words" }, fromElsewhere()));
      expect((await outcomes(guesses)).sort()).toEqual([...Array(15).fill("rate_limited"), ...Array(5).fill("unauthorized")]);
    }
  });

  describe("S115 a browser in which the account's owner has signed in", () => {
    async function underAttack() {
      const person = await signedInPerson();
      const { ip } = fromElsewhere();
      const from = { ip, userAgent: null };
      const resetAt = new Date(Date.now() + 60_000);
      const shared = throttleKey("password-address", addressKey(ip) as string);
      const keys = [loginThrottle(person.username), loginAtAddressThrottle(person.username, from), shared];
      await db().throttle.createMany({ data: keys.map((key) => ({ key, count: 1_000, resetAt })) });
      const trial = (knownBy: string | undefined, password = PASSWORD) =>
        signIn({ login: person.username, password, knownBy }, from);
      await expect(trial(undefined)).rejects.toMatchObject({ code: "rate_limited" });
      return { ...person, trial };
    }

    test("is not locked out, and has ten attempts of its own", async () => {
      const { id, trial } = await underAttack();
      const cookie = await rememberDevice(id, undefined);
      await expect(trial(cookie)).resolves.toMatchObject({ userId: id });
      for (let i = 0; i < 10; i++) await expect(trial(cookie, "a guess")).rejects.toMatchObject(WRONG);
      await expect(trial(cookie)).rejects.toMatchObject({ code: "rate_limited" });
      await expect(trial(await rememberDevice(id, undefined))).resolves.toMatchObject({ userId: id });
    });

    test("counts like an unknown browser once the account's known browsers have made a hundred wrong guesses in a day", async () => {
      const { id, email, trial } = await underAttack();
      const cookie = await rememberDevice(id, undefined);
      const guess = signIn({ login: email, password: "a guess", knownBy: cookie }, fromElsewhere());
      await expect(guess).rejects.toMatchObject(WRONG);
      const key = knownBrowsersThrottle(id);
      expect(await throttleCount(key)).toBe(1);
      await db().throttle.update({ where: { key }, data: { count: KNOWN_BROWSERS_LIMIT.limit - 1 } });
      await expect(trial(cookie)).resolves.toMatchObject({ userId: id });
      await expect(trial(cookie, "a guess")).rejects.toMatchObject(WRONG);
      await expect(trial(cookie)).rejects.toMatchObject({ code: "rate_limited" });
    });

    test("S144 adds only a limited number of wrong passwords to the log", async () => {
      const { id, trial } = await underAttack();
      const recorded = () => db().auditEvent.count({ where: { type: "user.sign_in_failed", subjectId: id } });
      const entry = { type: "user.sign_in_failed", subjectId: id };
      await db().auditEvent.createMany({ data: Array.from({ length: ENTRIES_ABOUT - 1 }, () => ({ id: newId(), ...entry })) });
      const guess = async () => trial(await rememberDevice(id, undefined), "a guess");
      await expect(guess()).rejects.toMatchObject(WRONG);
      await expect.poll(recorded).toBe(ENTRIES_ABOUT);
      const warn = vi.spyOn(log(), "warn");
      onTestFinished(() => warn.mockRestore());
      await expect(guess()).rejects.toMatchObject(WRONG);
      await expect.poll(() => warn.mock.calls).toMatchObject([[entry, expect.stringContaining("not recorded")]]);
      expect(await recorded()).toBe(ENTRIES_ABOUT);
    });

    test("is recognized only for its last five users", async () => {
      const { id, trial } = await underAttack();
      const others = await Promise.all(Array.from({ length: 5 }, () => signedInPerson()));
      let cookie = await rememberDevice(id, undefined);
      for (const other of others.slice(1)) cookie = await rememberDevice(other.id, cookie);
      await expect(trial(cookie)).resolves.toMatchObject({ userId: id });
      cookie = await rememberDevice(others[0]?.id ?? "", cookie);
      await expect(trial(cookie)).rejects.toMatchObject({ code: "rate_limited" });
    });

    test("is not recognized by a cookie that is forged, another user's, or older than the password", async () => {
      const { id, trial } = await underAttack();
      const stranger = await signedInPerson();
      const cookie = await rememberDevice(id, undefined);
      const foreign = await rememberDevice(stranger.id, undefined);
      const forged = [
        foreign,
        foreign.replace(stranger.id, id),
        cookie.replace(/[^.]+$/, (signature) => [...signature].reverse().join("")),
        cookie.replace(/\.[^.]+\./, `.${"A".repeat(22)}.`),
        `${cookie}.x`,
        `${"~".repeat(5_000)}${cookie}`,
        "\0",
      ];
      for (const one of forged) await expect(trial(one)).rejects.toMatchObject({ code: "rate_limited" });
      await db().user.update({ where: { id }, data: { passwordHash: await hashPassword(`${PASSWORD}, a new one`) } });
      await expect(trial(cookie)).rejects.toMatchObject({ code: "rate_limited" });
    });
  });

  test("S115 a successful sign-in resets the failures of the account, but not those of the address", async () => {
    const { username } = await signedInPerson();
    const attacker = fromElsewhere();
    const fail = (login: string) => signIn({ login, password: "some other words" }, attacker);
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 9; i++) await expect(fail(username)).rejects.toMatchObject(WRONG);
      await signIn({ login: username, password: PASSWORD }, attacker);
    }
    for (let i = 0; i < 5; i++) await expect(fail(freshName("victim"))).rejects.toMatchObject(WRONG);
    await expect(fail(freshName("victim"))).rejects.toMatchObject({ code: "rate_limited" });
    await expect(signIn({ login: username, password: PASSWORD }, fromElsewhere())).resolves.toBeDefined();
  });

  test("S115 addresses of one IPv6 network count as one", async () => {
    const at = (host: number) => ({ ip: `2001:db8:7:${process.pid % 9999}::${host.toString(16)}`, userAgent: null });
    for (let i = 0; i < 50; i++)
      await signIn({ login: freshName("victim"), password: "some other words" }, at(i + 1)).catch(() => undefined);
    await expect(signIn({ login: freshName("victim"), password: "some other words" }, at(999))).rejects.toMatchObject({
      code: "rate_limited",
    });
  });

  test("after the window, sign-in is possible again", async () => {
    const { username } = await signedInPerson();
    const from = fromElsewhere();
    for (let i = 0; i < 10; i++) await signIn({ login: username, password: "some other words" }, from).catch(() => undefined);
    await expect(signIn({ login: username, password: PASSWORD }, from)).rejects.toMatchObject({ code: "rate_limited" });
    await db().throttle.updateMany({ data: { resetAt: new Date(Date.now() - 1000) } });
    await expect(signIn({ login: username, password: PASSWORD }, from)).resolves.toBeDefined();
  });

  test("S112 a user learns that they are disabled only with the right password", async () => {
    const { id, username } = await signedInPerson();
    await disableUser(operatorCommand, id, fromElsewhere());
    await expect(signIn({ login: username, password: PASSWORD }, fromElsewhere())).rejects.toMatchObject({ code: "forbidden" });
    await expect(signIn({ login: username, password: "some other words" }, fromElsewhere())).rejects.toMatchObject(WRONG);
  });

  test("S112 a password that is changed during its verification no longer signs in", async () => {
    const { id, username } = await signedInPerson();
    let started: Promise<unknown> | undefined;
    await db().$transaction(async (tx) => {
      await tx.user.update({ where: { id }, data: { passwordHash: "another" } });
      started = asAnotherClient(() => signIn({ login: username, password: PASSWORD }, fromElsewhere()));
      started.catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 500));
    });
    await expect(started).rejects.toMatchObject(WRONG);
    expect(await db().siteSession.count({ where: { userId: id } })).toBe(1);
  });

  test("a password that was hashed with other parameters is hashed again, once", async () => {
    const { id, username } = await signedInPerson();
    const old = await hash(PASSWORD, { memoryCost: 8_192, timeCost: 1, parallelism: 1 });
    await db().user.update({ where: { id }, data: { passwordHash: old } });
    await signIn({ login: username, password: PASSWORD }, fromElsewhere());
    const { passwordHash } = await db().user.findUniqueOrThrow({ where: { id } });
    expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await signIn({ login: username, password: PASSWORD }, fromElsewhere());
    expect((await db().user.findUniqueOrThrow({ where: { id } })).passwordHash).toBe(passwordHash);
  });

  test("S116 a sign-in is in the audit log with its origin and without the password", async () => {
    const { id, username } = await signedInPerson();
    const at = fromElsewhere();
    await signIn({ login: username, password: PASSWORD }, at);
    expect(await auditTrail({ subjectId: id })).toEqual(["user.create", "user.sign_in"]);
    const event = await db().auditEvent.findFirstOrThrow({ where: { subjectId: id, type: "user.sign_in" } });
    expect(event).toMatchObject({ actorId: id, ip: at.ip, userAgent: at.userAgent });
    expect(JSON.stringify(event)).not.toContain(PASSWORD);
  });

  test.each([
    ["login", { login: "a\0b", password: PASSWORD }],
    ["login", { login: "\ud800", password: PASSWORD }],
    ["login", { login: "x".repeat(100_000), password: PASSWORD }],
    ["password", { login: "ada", password: "\0" }],
    ["password", { login: "ada", password: "x".repeat(1_000_000) }],
    ["password", { login: "ada", password: "" }],
    ["login", { login: "  ", password: PASSWORD }],
  ])("S51 a %s that is empty, huge or not text is refused with an error that names the field", async (field, input) => {
    await expect(signIn(input, fromElsewhere())).rejects.toMatchObject({ code: "invalid_request", field });
  });
});
