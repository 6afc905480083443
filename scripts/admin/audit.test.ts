import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { sealAuditEvents } from "#core/audit/chain/seal-audit-events.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import { closeConnections, db } from "#core/db.ts";
import { databaseUrl, env, provideSettings } from "#core/env.ts";
import { auditExport, auditList, auditRetention, auditVerify } from "./audit.ts";
import { checkAuditLog } from "./doctor/database.ts";

const directory = mkdtempSync(join(tmpdir(), "keyhook-audit-"));
let person: TestPerson;
let org: { id: string; name: string };

beforeAll(async () => {
  person = await signedInPerson("mara");
  org = await organizationOf(person);
});
afterAll(() => rmSync(directory, { recursive: true }));

type Verified = {
  ok: boolean;
  head: string;
  flaw: { kind: string; seq: string; event_id: string } | null;
  verified: number;
  unsealed: number;
};
const verify = async (values: object = {}) => {
  const { json, ...outcome } = await auditVerify.run(values as never);
  return { ...outcome, json: json as unknown as Verified };
};

describe("admin audit", () => {
  test("list and export have the entries of the installation or of one organization, and the export is recorded", async () => {
    const { text } = await auditList.run({ q: "type:organization.create", org: org.name });
    expect(text).toMatch(
      new RegExp(`^\\S+Z\\t[0-9a-f]{24}\\torganization.create\\t\\S+\\t${person.username} created the organization ${org.name}$`),
    );
    await recordAuditEvent(db(), { type: "installation.back_up", data: { place: "here\n2026-11-01\tx", backup: "y" } });
    const [entry] = (await auditList.run({ q: "type:installation.back_up" })).text.split("\n");
    expect(entry).toContain("here 2026-11-01 x");
    expect((await auditList.run({ q: "author:nobody-there" })).text).toBe("No entries match.");
    const out = join(directory, "log.csv");
    await auditExport.run({ out, format: "csv", org: org.name });
    expect(readFileSync(out, "utf8").split("\r\n")).toHaveLength(3);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    await expect(auditExport.run({ out })).rejects.toThrow(/--out.*exist/);
    expect(await db().auditEvent.count({ where: { type: "audit_log.export", orgId: org.id, actorId: null } })).toBe(1);
    await expect(auditList.run({ org: "no-such-one" })).rejects.toMatchObject({ code: "not_found" });
  });

  test("S116 verify seals waiting entries, prints a head to keep, and names the first entry that was changed", async () => {
    const first = await verify();
    expect(first).toMatchObject({ isFailure: false, json: { ok: true, unsealed: 0, flaw: null } });
    expect(first.text).toContain(`head: ${first.json.head}`);
    await auditRetention.run({ days: "120" });
    const second = await verify({ head: first.json.head });
    expect(second.json).toMatchObject({ ok: true, verified: first.json.verified + 1 });
    const other = await verify({ head: first.json.head.replace(/.$/, (last) => (last === "0" ? "1" : "0")) });
    expect(other).toMatchObject({ isFailure: true, json: { flaw: { kind: "head_differs" } } });
    await expect(verify({ head: "12" })).rejects.toThrow("--head");

    const owner = new pg.Client({ connectionString: env().DATABASE_OWNER_URL });
    await owner.connect();
    await owner.query(
      "set session_replication_role = replica; update audit_event set ip = '192.0.2.99' where type = 'organization.create'",
    );
    await owner.end();
    const broken = await verify();
    const entry = await db().auditEvent.findFirstOrThrow({ where: { type: "organization.create" } });
    expect(broken).toMatchObject({ isFailure: true, json: { ok: false, flaw: { kind: "entry_altered", event_id: entry.id } } });
    expect(broken.text).toContain(`BROKEN at number ${broken.json.flaw?.seq}, entry ${entry.id}: the entry was altered`);
  });

  test("the retention time is shown and set within its limits, and the change is recorded", async () => {
    expect((await auditRetention.run({ days: "forever" })).text).toBe("Entries are kept forever.");
    expect((await auditRetention.run({ days: "90" })).json).toEqual({ keep_days: 90 });
    for (const days of ["89", "0", "3661"]) await expect(auditRetention.run({ days })).rejects.toMatchObject({ field: "days" });
    await expect(auditRetention.run({ days: "-1" })).rejects.toThrow("--days");
    expect((await auditRetention.run({})).text).toBe("Entries are kept for 90 days.");
    expect(await db().auditEvent.count({ where: { type: "audit_log.set_retention" } })).toBeGreaterThanOrEqual(2);
  });
});

test("S116 doctor reports whether the database prevents the service from changing the log", async () => {
  await sealAuditEvents({ isWaiting: true });
  expect(await checkAuditLog()).toMatchObject([{ status: "ok", found: expect.stringContaining("append-only: the role") }]);
  const asService = databaseUrl();
  await closeConnections();
  provideSettings({ DATABASE_URL: env().DATABASE_OWNER_URL });
  expect(await checkAuditLog()).toMatchObject([{ status: "warn", advice: expect.stringContaining("DATABASE_OWNER_URL") }]);
  await closeConnections();
  provideSettings({ DATABASE_URL: asService });
});
