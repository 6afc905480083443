import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { db, pool } from "../../db.ts";
import { env } from "../../env.ts";
import { newId } from "../../ids.ts";
import { recordAuditEvent } from "../record-audit-event.ts";
import { expireAuditEvents } from "../retention.ts";
import { canonicalJson } from "./chain-hash.ts";
import { sealAuditEvents } from "./seal-audit-events.ts";
import { verifyAuditChain } from "./verify-audit-chain.ts";

/** An attacker who controls the database itself, including its triggers. */
const intruder = new pg.Client({ connectionString: env().DATABASE_OWNER_URL });
const never = new AbortController().signal;

const record = (actorId = newId()) => recordAuditEvent(db(), { type: "user.sign_in", actorId, data: { with: "a password" } });
const recordSome = async (count: number) => {
  for (let at = 0; at < count; at++) await record();
  await sealAll();
};
const sealAll = async () => {
  while ((await sealAuditEvents({ isWaiting: true })).isMore);
};

beforeAll(() => intruder.connect());
afterAll(() => intruder.end());
beforeEach(async () => {
  await intruder.query(`set session_replication_role = replica; truncate audit_event, audit_seal, audit_unsealed`);
  await intruder.query("set session_replication_role = origin");
});

async function tamper(sql: string): Promise<void> {
  await intruder.query(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);
}

describe("S116 the chain", () => {
  test("is valid, without gaps, and can be recomputed from an export", async () => {
    await recordSome(5);
    const found = await verifyAuditChain();
    expect(found).toMatchObject({ flaw: undefined, verified: 5n, unsealed: 0, expired: 0 });
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    const { rows: seals } = await pool().query("select * from audit_seal order by seq");
    let hash = "0".repeat(64);
    for (const [at, seal] of seals.entries()) {
      const entry = await db().auditEvent.findUniqueOrThrow({ where: { id: seal.event_id } });
      const createdAt = entry.createdAt.toISOString();
      const content = sha256(
        `{"actorId":"${entry.actorId}","clientId":null,"createdAt":"${createdAt}","data":{"with":"a password"},"id":"${entry.id}",` +
          `"ip":null,"orgId":null,"subjectId":null,"token":null,"type":"user.sign_in","userAgent":null}`,
      );
      expect(seal.content_hash.toString("hex")).toBe(content);
      hash = sha256(
        `{"contentHash":"${content}","eventCreatedAt":"${createdAt}","eventId":"${entry.id}","previousHash":"${hash}","seq":"${at + 1}"}`,
      );
      expect(seal.hash.toString("hex")).toBe(hash);
    }
    expect(found.head).toEqual({ seq: 5n, hash });
  });

  test("spells each value in one way (RFC 8785)", () => {
    const value = { b: [1e21, 0.5, -0, "\u20ac\n\u0001"], a: { "\u{1f600}": null, "\ufb33": true, Z: {} }, "": undefined };
    expect(canonicalJson(value)).toBe('{"a":{"Z":{},"\u{1f600}":null,"\ufb33":true},"b":[1e+21,0.5,0,"\u20ac\\n\\u0001"]}');
  });

  test("includes entries that commit late, even if several processes seal at once", async () => {
    const [slow, quick] = [newId(), newId()];
    const began = Promise.withResolvers<void>();
    const commit = Promise.withResolvers<void>();
    const late = db().$transaction(async (tx) => {
      await recordAuditEvent(tx, { type: "user.sign_in", actorId: slow });
      began.resolve();
      await commit.promise;
    });
    await began.promise;
    await Promise.all(Array.from({ length: 8 }, () => record(quick)));
    await Promise.all(Array.from({ length: 5 }, () => sealAuditEvents({ isWaiting: true })));
    expect(await verifyAuditChain()).toMatchObject({ flaw: undefined, verified: 8n, unsealed: 0 });
    commit.resolve();
    await late;
    expect(await verifyAuditChain()).toMatchObject({ flaw: undefined, verified: 8n, unsealed: 1 });
    await sealAll();
    const { rows } = await pool().query(
      "select e.actor_id from audit_seal s join audit_event e on e.id = s.event_id order by s.seq desc limit 1",
    );
    expect(rows).toEqual([{ actor_id: slow }]);
    expect(await verifyAuditChain()).toMatchObject({ flaw: undefined, verified: 9n, unsealed: 0 });
  });

  test("continues across batches, even if an entry is queued again", async () => {
    await pool().query(
      "insert into audit_event (id, type, data) select lpad(to_hex(n), 24, '0'), 'user.sign_in', '{}' from generate_series(1, 2500) n",
    );
    expect(await sealAuditEvents()).toEqual({ sealed: 1000, isMore: true });
    await pool().query("insert into audit_unsealed select event_id from audit_seal where seq in (3, 7)");
    await sealAll();
    expect(await verifyAuditChain()).toMatchObject({ flaw: undefined, verified: 2500n, unsealed: 0 });
  });
});

describe("S116 the chain detects an intruder who", () => {
  test.each([
    ["alters an entry", "update audit_event set data = '{}' where id = :3", { kind: "entry_altered", seq: 3n }],
    [
      "gives an entry another time",
      "update audit_event set created_at = created_at - interval '1 ms' where id = :3",
      { kind: "entry_altered", seq: 3n },
    ],
    ["gives an entry another actor", "update audit_event set actor_id = null where id = :1", { kind: "entry_altered", seq: 1n }],
    ["deletes an entry", "delete from audit_event where id = :4", { kind: "entry_missing", seq: 4n }],
    [
      "deletes an entry with its seal",
      "delete from audit_event where id = :4; delete from audit_seal where seq = 4",
      { kind: "seal_missing", seq: 4n },
    ],
    [
      "deletes an entry with its seal and closes the gap",
      "delete from audit_event where id = :4; delete from audit_seal where seq = 4; update audit_seal set seq = 4 where seq = 5",
      { kind: "link_broken", seq: 4n },
    ],
    [
      "swaps two entries",
      `update audit_event set id = 'x' where id = :2; update audit_event set id = :2 where id = :3; update audit_event set id = :3 where id = 'x'`,
      { kind: "entry_altered", seq: 2n },
    ],
    [
      "swaps two seals",
      "update audit_seal set seq = 9 where seq = 2; update audit_seal set seq = 2 where seq = 3; update audit_seal set seq = 3 where seq = 9",
      { kind: "link_broken", seq: 2n },
    ],
    [
      "inserts an entry",
      "insert into audit_event (id, type) values ('forged', 'user.sign_in')",
      { kind: "entry_unchained", eventId: "forged" },
    ],
    [
      "inserts an entry with a seal",
      "insert into audit_event (id, type) values ('forged', 'user.sign_in'); update audit_seal set event_id = 'forged' where seq = 2",
      { kind: "seal_altered", seq: 2n },
    ],
    ["recomputes one hash", "update audit_seal set content_hash = hash where seq = 2", { kind: "seal_altered", seq: 2n }],
    [
      "deletes the beginning",
      "delete from audit_seal where seq = 1; delete from audit_event where id = :1",
      { kind: "seal_missing", seq: 1n },
    ],
  ])("%s", async (_how, sql, flaw) => {
    await recordSome(5);
    const { rows } = await pool().query<{ event_id: string }>("select event_id from audit_seal order by seq");
    await tamper(sql.replaceAll(/:(\d)/g, (_, seq) => `'${rows[Number(seq) - 1]?.event_id}'`));
    expect((await verifyAuditChain()).flaw).toMatchObject(flaw);
  });

  test("cuts off the end, if a head was stored elsewhere", async () => {
    await recordSome(5);
    const { head } = await verifyAuditChain();
    await recordSome(2);
    expect(await verifyAuditChain(head)).toMatchObject({ flaw: undefined, verified: 7n });
    await tamper(
      "delete from audit_event using audit_seal s where s.event_id = audit_event.id and seq > 4; delete from audit_seal where seq > 4",
    );
    expect(await verifyAuditChain()).toMatchObject({ flaw: undefined, verified: 4n });
    expect(await verifyAuditChain(head)).toMatchObject({ flaw: { kind: "head_differs", seq: 5n } });
    await recordSome(1);
    expect(await verifyAuditChain(head)).toMatchObject({ flaw: { kind: "head_differs", seq: 5n }, verified: 5n });
  });
});

describe("S116 retention", () => {
  test("removes old entries but keeps their seals, so that other missing entries are detected", async () => {
    const { rows } = await pool().query<{ id: string }>(
      `insert into audit_event (id, type, created_at) select lpad(to_hex(n), 24, '0'), 'user.sign_in', now() - make_interval(days => 500 - n * 50)
         from generate_series(1, 6) n returning id`,
    );
    expect(await expireAuditEvents(never)).toBe(0);
    await sealAll();
    expect(await expireAuditEvents(never)).toBe(2);
    await delay(2);
    expect(await expireAuditEvents(never)).toBe(0);
    await sealAll();
    expect(await verifyAuditChain()).toMatchObject({ flaw: undefined, verified: 7n, expired: 2, unsealed: 0 });
    expect(await db().auditEvent.findFirst({ where: { type: "audit_log.expire" } })).toMatchObject({
      actorId: null,
      data: { count: 2, keepDays: 400 },
    });
    await tamper(`delete from audit_event where id = '${rows[3]?.id}'`);
    expect((await verifyAuditChain()).flaw).toMatchObject({ kind: "entry_missing", seq: 4n });
  });

  test("can be switched off, and is never shorter than 90 days", async () => {
    await pool().query(
      "insert into audit_event (id, type, created_at) values ('old', 'user.sign_in', now() - interval '5 years')",
    );
    await pool().query(
      "insert into audit_event (id, type, created_at) values ('new', 'user.sign_in', now() - interval '80 days')",
    );
    await sealAll();
    const keep = async (keepDays: number | null) => {
      const row = { key: "audit_retention", value: { keepDays }, updatedAt: new Date() };
      await db().setting.upsert({ where: { key: row.key }, create: row, update: row });
    };
    await keep(null);
    expect(await expireAuditEvents(never)).toBe(0);
    await keep(1);
    expect(await expireAuditEvents(never)).toBe(1);
    expect(await db().auditEvent.findMany({ where: { id: { in: ["old", "new"] } } })).toMatchObject([{ id: "new" }]);
  });
});
