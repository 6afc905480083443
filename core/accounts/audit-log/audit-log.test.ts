import { beforeAll, describe, expect, test } from "vitest";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import { db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { from, organizationOf, signedInPerson, type TestPerson } from "../testing/people.ts";
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

describe("the audit log", () => {
  test("goes page by page to its end and back, each entry once, also where many share a moment", async () => {
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

  test("S136 is an administrator's to read, one's own acts one's own, and an entry of elsewhere is not there", async () => {
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

  test("a person reads what they did and what was done to them, and not where others were then", async () => {
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
  });
});
