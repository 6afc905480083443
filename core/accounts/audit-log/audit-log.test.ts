import { beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { requestContext } from "../../log.ts";
import { from, organizationOf, outcomes, signedInPerson, type TestPerson } from "../testing/people.ts";
import { createPersonalAccessToken } from "../tokens/personal-access-tokens.ts";
import { messageOf } from "./audit-event-on-the-wire.ts";
import { exportAuditLog } from "./export-audit-log.ts";
import { AUDIT_PAGE_SIZE, findAuditEntry, listAuditEntries } from "./list-audit-entries.ts";

let admin: TestPerson;
let member: TestPerson;
let org: { id: string };
const all = { types: [], words: [] };
const ofOrganization = () => ({ kind: "organization", orgId: org.id }) as const;
const ofMember = () => ({ kind: "person", userId: member.id }) as const;

beforeAll(async () => {
  [admin, member] = [await signedInPerson("ada"), await signedInPerson("bob")];
  org = await organizationOf(admin, [[member, "write"]]);
});

async function fill(count: number, data: object = {}): Promise<TestPerson> {
  const person = await signedInPerson();
  await db().$executeRaw`INSERT INTO audit_event (id, type, actor_id, created_at, data)
    SELECT left(md5(random()::text), 24), 'noise.' || n, ${person.id}, now() - make_interval(secs => n), ${JSON.stringify(data)}::jsonb
      FROM generate_series(1, ${count}::int) n`;
  return person;
}

test("an entry's message names the affected user if another user acted", async () => {
  const person = await signedInPerson();
  const token = { name: "laptop", scopes: ["openid"], expiresInDays: 1 };
  await createPersonalAccessToken(person.actor, person.id, token, from);
  await createPersonalAccessToken(operatorCommand, person.id, token, from);
  const filter = { ...all, types: ["personal_access_token.create"] };
  const { entries } = await listAuditEntries(person.actor, { kind: "person", userId: person.id }, filter);
  expect(entries.map(messageOf)).toEqual([
    `created the access token laptop for ${person.username}`,
    "created the access token laptop",
  ]);
});

describe("S137 a search of the audit log", () => {
  test("reads 5,000 entries at a time, in both directions, and reports where it stopped", async () => {
    const person = await fill(12_000);
    const search = (words: string[], at = {}) =>
      listAuditEntries(person.actor, { kind: "person", userId: person.id }, { ...all, words }, at);
    const first = await search(["noise.11999"]);
    expect(first).toMatchObject({ entries: [], searchedTo: expect.any(Date), olderThan: expect.any(String) });
    const second = await search(["noise.11999"], { before: first.olderThan });
    expect(second).toMatchObject({ entries: [], searchedTo: expect.any(Date), olderThan: expect.any(String) });
    const third = await search(["noise.11999"], { before: second.olderThan });
    expect(third.entries.map(({ type }) => type)).toEqual(["noise.11999"]);
    expect(third).not.toHaveProperty("searchedTo");
    expect(third.olderThan).toBeUndefined();
    const back = await search(["noise.4999"], { after: third.entries[0]?.id });
    expect(back).toMatchObject({ entries: [], searchedTo: expect.any(Date), newerThan: expect.any(String) });
    const further = await search(["noise.4999"], { after: back.newerThan });
    expect(further.entries.map(({ type }) => type)).toEqual(["noise.4999"]);
    const scope = { kind: "person", userId: person.id } as const;
    const pieces = await exportAuditLog(async () => person.actor, scope, { q: "noise.11999", format: "json" }, from);
    let text = "";
    for await (const piece of pieces) text += piece;
    expect(JSON.parse(text).map(({ type }: { type: string }) => type)).toEqual(["noise.11999"]);
    expect((await search(["noise."])).entries).toHaveLength(AUDIT_PAGE_SIZE);
    expect(await search(["noise."])).not.toHaveProperty("searchedTo");
  });

  test("for one type in an organization reads only entries of that type", async () => {
    await db().$executeRaw`INSERT INTO audit_event (id, type, org_id, created_at)
      SELECT left(md5(random()::text), 24), 'oauth_token.exchange', ${org.id}, now() FROM generate_series(1, 50001) n`;
    const found = await listAuditEntries(admin.actor, ofOrganization(), { ...all, types: ["organization.create"] });
    expect(found.entries.map(({ type }) => type)).toEqual(["organization.create"]);
    expect(found).not.toHaveProperty("searchedTo");
  });

  test("leaves database connections for other queries while many large searches run", async () => {
    const data = { text: "a".repeat(4_000) };
    const person = await fill(600, data);
    const words = ["a", "b", "c", "d"].map((end) => "a".repeat(30) + end);
    const search = () => listAuditEntries(person.actor, { kind: "person", userId: person.id }, { ...all, words });
    const requests = Array.from({ length: 14 }, () =>
      requestContext.run({ requestId: "search", party: { key: "account searcher", isAnonymous: false } }, search),
    );
    const ended = outcomes(requests);
    const answers: number[] = [];
    for (let times = 0; times < 5; times++) answers.push((await pool().query("SELECT 1")).rows.length);
    expect(answers).toEqual([1, 1, 1, 1, 1]);
    expect(pool().waitingCount).toBe(0);
    for (const end of await ended) expect(["ok", "unavailable"]).toContain(end);
  });
});

describe("the audit log", () => {
  test("shows each entry once when it is paged to its end and back, even if entries share a time", async () => {
    const createdAt = new Date("2026-05-05T05:05:05.555Z");
    const rows = Array.from({ length: 120 }, () => ({ id: newId(), type: "repo.create", orgId: org.id, createdAt }));
    await db().auditEvent.createMany({ data: rows });
    const filter = { ...all, types: ["repo.create"] };
    const list = (at: { before?: string; after?: string }) => listAuditEntries(admin.actor, ofOrganization(), filter, at);
    const pages = [await list({})];
    for (let olderThan = pages[0]?.olderThan; olderThan; olderThan = pages.at(-1)?.olderThan)
      pages.push(await list({ before: olderThan }));
    expect(pages.map(({ entries }) => entries.length)).toEqual([AUDIT_PAGE_SIZE, AUDIT_PAGE_SIZE, 20]);
    expect(new Set(pages.flatMap(({ entries }) => entries.map(({ id }) => id)))).toEqual(new Set(rows.map(({ id }) => id)));
    expect(pages[0]?.newerThan).toBeUndefined();
    const back = await list({ after: pages[2]?.newerThan ?? "" });
    expect(back.entries.map(({ id }) => id)).toEqual(pages[1]?.entries.map(({ id }) => id));
    const top = await list({ after: back.newerThan ?? "" });
    expect(top.entries.map(({ id }) => id)).toEqual(pages[0]?.entries.map(({ id }) => id));
    expect(top.newerThan).toBeUndefined();
    for (const nonsense of ["\0", "x", "0".repeat(24)])
      expect((await list({ before: nonsense })).entries).toHaveLength(AUDIT_PAGE_SIZE);
  });

  test("S136 is shown only to the organization's administrators or to the user whose log it is", async () => {
    await expect(listAuditEntries(member.actor, ofOrganization(), all)).rejects.toMatchObject({ code: "forbidden" });
    await expect(listAuditEntries(member.actor, { kind: "installation" }, all)).rejects.toMatchObject({ code: "forbidden" });
    await expect(listAuditEntries(admin.actor, ofMember(), all)).rejects.toMatchObject({ code: "not_found" });
    const elsewhere = await db().auditEvent.findFirstOrThrow({ where: { orgId: null } });
    for (const id of [elsewhere.id, newId(), "\0"])
      await expect(findAuditEntry(admin.actor, ofOrganization(), id)).rejects.toMatchObject({
        code: "not_found",
        message: "Entry not found",
      });
    const { entries } = await listAuditEntries(admin.actor, ofOrganization(), all);
    expect((await findAuditEntry(admin.actor, ofOrganization(), entries[0]?.id ?? "")).id).toBe(entries[0]?.id);
  });

  test("S136 shows an organization who asked for access, without the IP addresses and tokens of these strangers", async () => {
    const stranger = await signedInPerson();
    const address = { ip: "203.0.113.77", userAgent: "Stranger/1.0" };
    for (const type of ["access_request.ask", "access_request.withdraw"] as const)
      await recordAuditEvent(db(), { type, actorId: stranger.id, subjectId: stranger.id, orgId: org.id, from: address });
    await recordAuditEvent(db(), { type: "access_request.accept", actorId: member.id, orgId: org.id, from });
    const types = ["access_request.*"];
    const { entries } = await listAuditEntries(admin.actor, ofOrganization(), { ...all, types });
    const seen = entries.map(({ type, actorName, ip, userAgent }) => [type, actorName, ip, userAgent]);
    expect(seen.toSorted()).toEqual([
      ["access_request.accept", member.username, from.ip, from.userAgent],
      ["access_request.ask", stranger.username, null, null],
      ["access_request.withdraw", stranger.username, null, null],
    ]);
    for (const filter of [{ ip: address.ip }, { words: ["stranger/1.0"] }])
      expect((await listAuditEntries(admin.actor, ofOrganization(), { ...all, ...filter })).entries).toEqual([]);
    const own = await listAuditEntries(stranger.actor, { kind: "person", userId: stranger.id }, { ...all, types });
    expect(own.entries.map(({ ip }) => ip)).toEqual([address.ip, address.ip]);
  });

  test("shows users their own actions and the actions on their account, without the IP addresses of others", async () => {
    await recordAuditEvent(db(), { type: "user.sign_in", actorId: member.id, subjectId: member.id, from });
    await recordAuditEvent(db(), { type: "user.disable", actorId: admin.id, subjectId: member.id, from });
    const { entries } = await listAuditEntries(member.actor, ofMember(), all);
    const seen = (type: string) => entries.find((entry) => entry.type === type);
    expect(seen("user.sign_in")).toMatchObject({ ip: from.ip, userAgent: from.userAgent });
    expect(seen("user.disable")).toMatchObject({ actorName: admin.username, ip: null, userAgent: null, token: null });
    expect(entries.filter(({ type }) => type === "user.sign_in" && seen(type))).toHaveLength(
      await db().auditEvent.count({ where: { type: "user.sign_in", actorId: member.id } }),
    );
    expect(entries.every(({ actorId, subjectId }) => [actorId, subjectId].includes(member.id))).toBe(true);
    for (const filter of [
      { ...all, ip: from.ip ?? "" },
      { ...all, words: [from.userAgent ?? ""] },
    ]) {
      const found = await listAuditEntries(member.actor, ofMember(), { ...filter, types: ["user.*"] });
      expect(found.entries.map(({ type }) => type)).toContain("user.sign_in");
      expect(found.entries.map(({ type }) => type)).not.toContain("user.disable");
    }
  });
});
