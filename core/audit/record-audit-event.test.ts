import { describe, expect, test } from "vitest";
import { db } from "../db.ts";
import { newId } from "../ids.ts";
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
