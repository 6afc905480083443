import { beforeEach, describe, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { readDocumentPolicy } from "#core/oauth/documents/hosts/document-policy.ts";
import { adminLine } from "./testing/admin-line.ts";

const admin = (...args: string[]) => adminLine("client-host", ...args);

beforeEach(async () => {
  await db().oAuthClientHost.deleteMany();
  await db().setting.deleteMany();
});

describe("client-host", () => {
  test("blocks and allows hosts, and lists and removes the rules", async () => {
    expect(await admin("block", "--host", "https://Evil.example/client", "--note", "phishing")).toEqual({
      exitCode: 0,
      json: { host: "evil.example", rule: "block", revoked_consents: 0 },
      text: "Apps of evil.example are blocked; 0 consents were revoked.",
    });
    expect(await admin("allow", "--host", "good.evil.example")).toMatchObject({
      json: { host: "good.evil.example", rule: "allow" },
    });
    expect(await admin("list")).toMatchObject({
      json: {
        policy: "open",
        total: 2,
        rules: [
          { host: "evil.example", rule: "block", note: "phishing", created_at: expect.any(String) },
          { host: "good.evil.example", rule: "allow", note: null },
        ],
      },
      text: 'The policy is "open". 2 rules:\nblock\tevil.example\tphishing\nallow\tgood.evil.example',
    });
    expect(await admin("remove", "--host", "evil.example")).toMatchObject({ json: { host: "evil.example" } });
    expect(await admin("remove", "--host", "evil.example")).toMatchObject({ exitCode: 1, json: { code: "not_found" } });
    expect(await db().auditEvent.count({ where: { type: { startsWith: "oauth_client_host." }, actorId: null } })).toBe(3);
  });

  test("shows the policy and changes it", async () => {
    expect(await admin("policy")).toMatchObject({ json: { policy: "open" } });
    expect(await admin("policy", "--set", "listed")).toMatchObject({ json: { policy: "listed" } });
    expect(await readDocumentPolicy()).toMatchObject({ policy: "listed" });
    expect(await admin("list")).toMatchObject({ json: { policy: "listed", rules: [] } });
  });

  test("names the invalid option", async () => {
    expect(await admin("block", "--host", "a b")).toMatchObject({
      exitCode: 2,
      json: { field: "host", code: "invalid_request" },
    });
    expect(await admin("block", "--host", "a.example", "--note", "x".repeat(301))).toMatchObject({ json: { field: "note" } });
    await expect(admin("block")).rejects.toThrow(/--host HOST is missing/);
    await expect(admin("policy", "--set", "maybe")).rejects.toThrow(/open, listed, off/);
  });
});
