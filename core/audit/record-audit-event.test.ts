import { describe, expect, test } from "vitest";
import { db, pool } from "../db.ts";
import type { Prisma } from "../generated/prisma/client.ts";
import { newId } from "../ids.ts";
import { DATA_MAX_BYTES } from "./bounded-json.ts";
import { type AuditEventType, auditEventTypes } from "./event-types.ts";
import { APART_ANYWHERE_PER_HOUR, APART_PER_HOUR, ENTRIES_PER_HOUR, ENTRIES_WITH_TOKENS_PER_HOUR } from "./hourly-allowance.ts";
import { recordAuditEvent } from "./record-audit-event.ts";
import type { AuditToken } from "./request-origin.ts";

const type = "oauth_app.create";

describe("S116 the audit log", () => {
  test("contains the given data and its origin", async () => {
    const [actorId, orgId] = [newId(), newId()];
    await recordAuditEvent(db(), {
      type,
      actorId,
      orgId,
      clientId: "c",
      data: { name: "Quay" },
      from: { ip: "192.0.2.1", userAgent: "x" },
    });
    expect(await db().auditEvent.findFirstOrThrow({ where: { actorId } })).toMatchObject({
      type,
      orgId,
      clientId: "c",
      subjectId: null,
      data: { name: "Quay" },
      ip: "192.0.2.1",
      userAgent: "x",
      createdAt: expect.any(Date),
    });
  });

  test("has no entry for a change that is rolled back", async () => {
    const actorId = newId();
    const failing = db().$transaction(async (tx) => {
      await recordAuditEvent(tx, { type, actorId });
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await db().auditEvent.count({ where: { actorId } })).toBe(0);
  });

  test("S144 cuts large data and marks the entry as cut", async () => {
    const read = async (data: Prisma.InputJsonObject) => {
      const actorId = newId();
      await recordAuditEvent(db(), { type, actorId, data });
      return (await db().auditEvent.findFirstOrThrow({ where: { actorId } })).data;
    };
    const fits = { name: "x".repeat(DATA_MAX_BYTES - JSON.stringify({ name: "" }).length) };
    expect(await read(fits)).toEqual(fits);
    expect(await read({ name: `${fits.name}x`, role: "admin" })).toEqual({
      name: expect.stringMatching(/^x{300}…#[0-9a-f]{12}$/),
      role: "admin",
      cutFromBytes: DATA_MAX_BYTES + 16,
    });
    const listed = Array.from({ length: 50 }, () => "\u{1f600}".repeat(1_000));
    const cut = await read({ before: { some: listed }, after: { more: listed }, count: 3 });
    expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThanOrEqual(DATA_MAX_BYTES);
    expect(cut).toMatchObject({ before: { some: { length: 50 } }, after: { more: { length: 50 } }, count: 3 });
    const fields = Object.fromEntries(listed.map((text, at) => [`field ${at}`, Array(9).fill(text)]));
    expect(await read(fields)).toMatchObject({ "field 0": ["… (9 in all)"], "field 49": ["… (9 in all)"] });
  });

  describe("S144 in an hour", () => {
    type Recorded = { of?: AuditEventType; count?: number; with?: AuditToken; ip?: string; actorId?: string };

    async function someoneWith({ of = type, count = ENTRIES_PER_HOUR, with: token, ip, actorId = newId() }: Recorded = {}) {
      await pool().query(
        `INSERT INTO audit_event (id, type, actor_id, created_at, token, ip)
         SELECT gen_random_uuid(), $3, $1, now() - interval '59 minutes', $4, $5 FROM generate_series(1, $2)`,
        [actorId, count, of, token, ip],
      );
      return actorId;
    }

    const record = (
      actorId: string,
      of: AuditEventType,
      { with: token, ip = null }: { with?: AuditToken; ip?: string | null } = {},
    ) => recordAuditEvent(db(), { type: of, actorId, from: { ip, userAgent: null, ...(token && { token }) } });
    const tokenOf = (clientId: string, type: AuditToken["type"] = "oauth") => ({ type, id: newId(), clientId });
    const limited = { code: "rate_limited" };

    test("an account has a limit of entries, and the refusal says when it may continue", async () => {
      await record(await someoneWith({ count: ENTRIES_PER_HOUR - 1 }), type);
      const actorId = await someoneWith();
      const refused = record(actorId, "webhook.test");
      await expect(refused).rejects.toMatchObject({ ...limited, message: expect.stringContaining("in a minute") });
      await expect(refused).rejects.toHaveProperty(
        "retryAfterSeconds",
        expect.toSatisfy((each) => each > 0 && each <= 60),
      );
      await record(newId(), type);
      await recordAuditEvent(db(), { type, subjectId: actorId });
    });

    test("the entries of one transaction are all recorded if the limit admits the first", async () => {
      const actorId = await someoneWith({ count: ENTRIES_PER_HOUR - 1 });
      await db().$transaction(async (tx) => {
        for (let each = 0; each < 5; each++) await recordAuditEvent(tx, { type, actorId });
      });
      expect(await db().auditEvent.count({ where: { actorId } })).toBe(ENTRIES_PER_HOUR + 4);
    });

    test("actions that let users in or remove something are outside the common limit", async () => {
      const free = (Object.keys(auditEventTypes) as AuditEventType[]).filter((each) => auditEventTypes[each].bound);
      expect(free).toEqual(
        expect.arrayContaining(["user.sign_in", "user.reset_password", "webhook.rotate_secret", "organization.revoke_token"]),
      );
      const busy = await someoneWith();
      for (const each of free) await record(busy, each);
      await recordAuditEvent(db(), { type: "repo.update_settings", actorId: busy, isRemoval: true });
      await expect(record(busy, "repo.update_settings")).rejects.toMatchObject(limited);
      const restless = newId();
      for (const each of free) await someoneWith({ of: each, count: 30, actorId: restless });
      await record(restless, type);
    });

    test("an action that counts apart has a limit of its own for each network", async () => {
      const [of, ip] = ["user.sign_in", "2001:db8:1:2::3"] as const;
      const restless = await someoneWith({ of, ip, count: APART_PER_HOUR });
      for (const near of [ip, "2001:db8:1::", "2001:db8:1:ffff::1%eth0"])
        await expect(record(restless, of, { ip: near })).rejects.toMatchObject(limited);
      for (const elsewhere of ["2001:db8:2::3", "192.0.2.1", "nowhere", null]) await record(restless, of, { ip: elsewhere });
      await record(restless, "user.reauthenticate", { ip });
      await record(restless, type, { ip });
      const other = await someoneWith({ of, ip: "192.0.2.1", count: APART_PER_HOUR });
      await record(other, of, { ip: "192.0.2.2" });
      await expect(record(other, of, { ip: "192.0.2.1" })).rejects.toMatchObject(limited);
    });

    test("an app's changes in a user's name count towards the app's limit instead of the user's", async () => {
      const quay = tokenOf("quay");
      const person = await someoneWith({ with: quay });
      await expect(record(person, "webhook.create", { with: tokenOf("quay") })).rejects.toMatchObject(limited);
      await record(person, type);
      await record(person, type, { with: tokenOf("kite") });
      await record(person, type, { with: { type: "personal", id: newId() } });
      const mine = { type: "personal", id: newId() } as const;
      await someoneWith({ with: mine, actorId: person });
      await expect(record(person, type, { with: mine })).rejects.toMatchObject(limited);
      await someoneWith({ with: tokenOf("lamp"), actorId: person });
      await expect(record(person, type, { with: tokenOf("kite") })).rejects.toMatchObject(limited);
      await record(person, type);
      await someoneWith({ actorId: person });
      await expect(record(person, type)).rejects.toMatchObject(limited);
    });

    test("an action that has its own limit on the pages counts towards the limits of tokens when it is done with a token", async () => {
      const personal = () => ({ type: "personal", id: newId() }) as const;
      const of = "webhook.rotate_secret";
      const mine = personal();
      const busy = await someoneWith({ of, with: mine });
      for (const each of [of, type] as const) await expect(record(busy, each, { with: mine })).rejects.toMatchObject(limited);
      await record(busy, of, { with: personal() });
      await someoneWith({ of, with: personal(), actorId: busy, count: ENTRIES_WITH_TOKENS_PER_HOUR - ENTRIES_PER_HOUR });
      await expect(record(busy, of, { with: personal() })).rejects.toMatchObject(limited);
      await record(busy, of);
    });

    test("actions that count apart have a limit over all networks, unless they require the password", async () => {
      const of = "webhook.rotate_secret";
      const busy = await someoneWith({ of, ip: "192.0.2.1", count: APART_ANYWHERE_PER_HOUR });
      await expect(record(busy, of, { ip: "192.0.2.2" })).rejects.toMatchObject(limited);
      await someoneWith({ of: "user.sign_in", ip: "192.0.2.1", count: APART_ANYWHERE_PER_HOUR, actorId: busy });
      await record(busy, "user.sign_in", { ip: "192.0.2.2" });
    });

    test("uncounted entries do not displace counted ones", async () => {
      const busy = await someoneWith();
      const ended =
        "INSERT INTO audit_event (id, type, actor_id) SELECT gen_random_uuid(), 'user.sign_out', $1 FROM generate_series(1, 10000)";
      await pool().query(ended, [busy]);
      await expect(record(busy, type)).rejects.toMatchObject(limited);
    });

    test("an organization's program, which acts in the name of members, does not use up their limits", async () => {
      const program = tokenOf("program", "exchanged");
      const member = await someoneWith({ of: "oauth_token.exchange" });
      for (const each of [program, program, program]) await someoneWith({ with: each, actorId: member });
      await expect(record(member, type, { with: program })).rejects.toMatchObject(limited);
      await record(member, type);
      await record(member, type, { with: tokenOf("quay") });
    });
  });

  test("S51 a hostile User-Agent is cut to what can be stored", async () => {
    const actorId = newId();
    await recordAuditEvent(db(), {
      type,
      actorId,
      from: { ip: null, userAgent: `a\0${"\ud800".repeat(5)}${"x".repeat(100_000)}` },
    });
    const { userAgent } = await db().auditEvent.findFirstOrThrow({ where: { actorId } });
    expect(userAgent).toHaveLength(512);
    expect(userAgent).toMatch(/^a\ufffd{5}x+$/);
  });
});
