import { describe, expect, test } from "vitest";
import { db, pool } from "../db.ts";
import type { Prisma } from "../generated/prisma/client.ts";
import { newId } from "../ids.ts";
import { DATA_MAX_BYTES } from "./bounded-json.ts";
import type { AuditEventType } from "./event-types.ts";
import { ENTRIES_PER_HOUR } from "./hourly-allowance.ts";
import { recordAuditEvent } from "./record-audit-event.ts";

const type = "oauth_app.create";

describe("S116 the audit log", () => {
  test("holds what is given and where it came from", async () => {
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

  test("a change that is rolled back leaves no event", async () => {
    const actorId = newId();
    const failing = db().$transaction(async (tx) => {
      await recordAuditEvent(tx, { type, actorId });
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await db().auditEvent.count({ where: { actorId } })).toBe(0);
  });

  test("S144 what is large is cut, and says so", async () => {
    const read = async (data: Prisma.InputJsonObject) => {
      const actorId = newId();
      await recordAuditEvent(db(), { type, actorId, data });
      return (await db().auditEvent.findFirstOrThrow({ where: { actorId } })).data;
    };
    const fits = { name: "x".repeat(DATA_MAX_BYTES - JSON.stringify({ name: "" }).length) };
    expect(await read(fits)).toEqual(fits);
    expect(await read({ name: `${fits.name}x`, role: "admin" })).toEqual({
      name: `${"x".repeat(300)}… (4086 characters)`,
      role: "admin",
      cutFromBytes: DATA_MAX_BYTES + 16,
    });
    const listed = Array.from({ length: 50 }, () => "\u{1f600}".repeat(1_000));
    const cut = await read({ before: { some: listed }, after: { more: listed }, count: 3 });
    expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThanOrEqual(DATA_MAX_BYTES);
    expect(cut).toMatchObject({ before: { some: expect.arrayContaining(["… (50 in all)"]) }, count: 3 });
    const fields = Object.fromEntries(listed.map((text, at) => [`field ${at}`, Array(9).fill(text)]));
    expect(await read(fields)).toEqual({ cutFromBytes: expect.any(Number) });
  });

  describe("S144 in an hour", () => {
    /** Somebody who has recorded entries of a kind, and may record so many more. */
    async function someoneWith(left: number, of: AuditEventType): Promise<string> {
      const actorId = newId();
      await pool().query(
        `INSERT INTO audit_event (id, type, actor_id, created_at)
         SELECT gen_random_uuid(), $3, $1, now() - interval '59 minutes' FROM generate_series(1, $2)`,
        [actorId, ENTRIES_PER_HOUR - left, of],
      );
      return actorId;
    }

    test("an account records so much, and is told when it may go on", async () => {
      await recordAuditEvent(db(), { type, actorId: await someoneWith(1, type) });
      const actorId = await someoneWith(0, type);
      const refused = recordAuditEvent(db(), { type: "webhook.test", actorId });
      await expect(refused).rejects.toMatchObject({ code: "rate_limited", message: expect.stringContaining("in a minute") });
      await expect(refused).rejects.toHaveProperty(
        "retryAfterSeconds",
        expect.toSatisfy((each) => each > 0 && each <= 60),
      );
      await recordAuditEvent(db(), { type, actorId: newId() });
      await recordAuditEvent(db(), { type, subjectId: actorId });
    });

    test("what belongs together is recorded together", async () => {
      const actorId = await someoneWith(1, type);
      await db().$transaction(async (tx) => {
        for (let each = 0; each < 5; each++) await recordAuditEvent(tx, { type, actorId });
      });
      expect(await db().auditEvent.count({ where: { actorId } })).toBe(ENTRIES_PER_HOUR + 4);
    });

    test("an app's changes keep nobody from signing in and revoking it, nor the other way round", async () => {
      const busy = await someoneWith(0, type);
      await recordAuditEvent(db(), { type: "user.sign_in", actorId: busy });
      await recordAuditEvent(db(), { type: "oauth_consent.revoke", actorId: busy });
      const restless = await someoneWith(0, "user.sign_in");
      await expect(recordAuditEvent(db(), { type: "user.sign_out", actorId: restless })).rejects.toThrow("Try again");
      await recordAuditEvent(db(), { type, actorId: restless });
    });

    test("exchanges of an organization's program, in which somebody acts, use up nothing of theirs", async () => {
      await recordAuditEvent(db(), { type, actorId: await someoneWith(0, "oauth_token.exchange") });
    });
  });

  test("S51 a hostile User-Agent is cut to what can be kept", async () => {
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
