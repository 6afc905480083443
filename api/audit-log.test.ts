import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { may } from "#core/access/may.ts";
import { exportAuditLog } from "#core/accounts/audit-log/export-audit-log.ts";
import { from, organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { exchangedToken, someApp } from "#core/accounts/testing/tokens.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import { db, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { prepare } from "#core/oauth/testing/sign-in.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let admin: TestPerson;
let member: TestPerson;
let leaver: TestPerson;
let org: { id: string; name: string };
let adminToken: { id: string; token: string };

const tokenOf = (person: TestPerson, scopes: string[]) =>
  createPersonalAccessToken(person.actor, person.id, { name: "export", scopes, expiresInDays: 1 }, from);

beforeAll(async () => {
  world = await startApiWorld();
  admin = await signedInPerson("mara");
  member = await signedInPerson("nils");
  leaver = await signedInPerson("leaver");
  org = await organizationOf(admin);
  await db().organization.update({ where: { id: org.id }, data: { plan: "team" } });
  await db().membership.create({ data: { orgId: org.id, userId: member.id, role: "write" } });
  adminToken = await tokenOf(admin, ["manage-repos"]);
});
afterAll(() => world.stop());

const ask = (token: string | undefined, query = "", init: { headers?: Record<string, string>; name?: string } = {}) =>
  fetch(`${world.origin}/api/organizations/${init.name ?? org.name}/audit-log/export${query}`, {
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...init.headers },
  });

async function exported(query = "", headers = {}) {
  const answer = await ask(adminToken.token, query, { headers });
  expect(answer.status).toBe(200);
  return answer;
}

type Wire = { _id: string; type: string; message: string; author: { user?: string }; token: unknown; data: unknown };
const events = async (q: string): Promise<Wire[]> => (await exported(`?${new URLSearchParams({ q })}`)).json();

describe("GET /api/organizations/{name}/audit-log/export (docs/specification/organizations-and-tokens.md#audit-log)", () => {
  test("S116 returns all fields of the entries, newest first, and records the export as an entry", async () => {
    await fetch(`${world.origin}/api/repos/create`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminToken.token}`, "content-type": "application/json", "user-agent": "probe/1" },
      body: JSON.stringify({ name: "tides", organization: org.name, type: "model" }),
    });
    const first = await exported();
    expect(first.headers.get("content-disposition")).toBe(`attachment; filename="audit-log-${org.name}.json"`);
    expect(first.headers.get("content-type")).toMatch(/^application\/json/);
    const [created] = ((await first.json()) as Wire[]).filter(({ type }) => type === "repo.create");
    expect(created).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      type: "repo.create",
      message: `${admin.username} created the repository ${org.name}/tides`,
      data: expect.objectContaining({ repo: `${org.name}/tides` }),
      ip: null,
      location: null,
      userAgent: "probe/1",
      author: {
        type: "user",
        _id: admin.id,
        user: admin.username,
        avatarUrl: expect.stringContaining("/avatars/"),
        deleted: false,
      },
      token: {
        type: "personal",
        id: adminToken.id,
        name: "export",
        role: "write",
        last4: adminToken.token.slice(-4),
        deleted: false,
      },
      oauth: null,
      subject: null,
      organization: { _id: org.id, name: org.name },
    });
    const [latest] = await events("type:audit_log.export");
    expect(latest).toMatchObject({
      message: `${admin.username} exported the audit log as json`,
      data: { format: "json", q: "" },
      token: { id: adminToken.id },
    });
  });

  test("filters by author, address, kind, time and words, and gives advice about an invalid term", async () => {
    const at = new Date("2026-03-01T12:00:00.000Z");
    const row = (data: object) => ({ id: newId(), type: "oauth_app.create", orgId: org.id, createdAt: at, ...data });
    const gone = newId();
    await db().auditEvent.createMany({
      data: [
        row({ actorId: member.id, ip: "198.51.100.7", data: { name: "100%_sure" } }),
        row({ actorId: gone, type: "oauth_app.secret_rotate", ip: "198.51.100.8" }),
        row({ type: "oauth_appx.create" }),
        row({ type: "oauth_app.delete", orgId: newId(), actorId: member.id }),
      ],
    });
    const range = "since:2026-03-01 until:2026-03-01";
    const found = async (q: string) => (await events(`${range} ${q}`)).map(({ type, author }) => `${type} ${author.user}`).sort();
    const created = `oauth_app.create ${member.username}`;
    expect(await found("")).toEqual([created, "oauth_app.secret_rotate null", "oauth_appx.create undefined"]);
    expect(await found(`author:${member.username.toUpperCase()}`)).toEqual([created]);
    expect(await found(`author:${gone}`)).toEqual(["oauth_app.secret_rotate null"]);
    expect(await found("author:system")).toEqual(["oauth_appx.create undefined"]);
    expect(await found("author:nobody-of-that-name")).toEqual([]);
    expect(await found("ip:198.51.100.7")).toEqual([created]);
    expect(await found("type:oauth_app.*")).toEqual([created, "oauth_app.secret_rotate null"]);
    expect(await found("type:oauth_app.create type:oauth_app.delete")).toEqual([created]);
    expect(await found('"100%_SURE"')).toEqual([created]);
    expect(await found("100__sure")).toEqual([]);
    expect(await events("since:2026-03-01T12:00:00.001Z until:2026-03-01")).toEqual([]);
    expect(await events("until:0000-01-01")).toEqual([]);
    for (const q of [
      "type:'; drop",
      "since:yesterday",
      "until:2026-13-45",
      "x ".repeat(6),
      "ip:x ".repeat(21),
      "x".repeat(501),
    ]) {
      const answer = await ask(adminToken.token, `?${new URLSearchParams({ q })}`);
      expect([q.slice(0, 20), answer.status]).toEqual([q.slice(0, 20), 400]);
      expect(await answer.json()).toMatchObject({ code: "invalid_request" });
    }
    expect((await ask(adminToken.token, "?q=%00%ED%A0%80")).status).toBe(400);
    expect((await ask(adminToken.token, `?${new URLSearchParams({ q: '\\\\%_ "" "' })}`)).status).toBe(200);
  });

  test("exports JSON Lines, or CSV in which no cell is a formula", async () => {
    await recordAuditEvent(db(), {
      type: "organization.add_member",
      actorId: admin.id,
      orgId: org.id,
      data: { name: "x\0\ud800" },
      from: { ip: "=1+1", userAgent: '=HYPERLINK("http://evil.example","a, b")' },
    });
    const q = "?q=type:organization.add_member";
    const lines = (await (await exported(q, { accept: "application/jsonl" })).text()).split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(["organization.add_member"]);
    expect(JSON.parse(lines[0] ?? "").data).toEqual({ name: "x\ufffd" });
    const table = await exported(`${q}&format=csv`, { accept: "application/jsonl" });
    expect(table.headers.get("content-type")).toMatch(/^text\/csv/);
    const [head, row] = (await table.text()).split("\r\n");
    expect(head).toMatch(/^id,created_at,type,message,author_type/);
    expect(row).toContain(`,'=1+1,"'=HYPERLINK(""http://evil.example"",""a, b"")"`);
    expect((await ask(adminToken.token, "?format=xml")).status).toBe(400);
  });

  test("is only for administrators of a paying organization, with a personal token that has the scope", async () => {
    const wide = await prepare(world);
    const at = await tokenOf(member, ["manage-repos"]);
    const status = async (token?: string, name?: string) => (await ask(token, "", name ? { name } : {})).status;
    expect(await status()).toBe(401);
    expect(await status("kh_unknown")).toBe(401);
    expect(await status(at.token)).toBe(403);
    const narrow = await ask((await tokenOf(admin, ["read-repos", "write-repos"])).token);
    expect([narrow.status, await narrow.json()]).toMatchObject([403, { code: "insufficient_scope", scope: "manage-repos" }]);
    const app = await someApp({ boundOrgId: org.id });
    const exchanged = await exchangedToken(admin.id, app, org.id, ["manage-repos"]);
    await expect(may(exchanged, "audit_log.read", { orgId: org.id })).resolves.toBe(false);
    await expect(may(exchanged, "organization.revoke_token", { orgId: org.id })).resolves.toBe(false);
    expect(await status(adminToken.token, "no-such-organization")).toBe(404);
    const other = await organizationOf(wide.person as never).catch(() => undefined);
    expect(other).toBeUndefined();
    const poor = await organizationOf(admin);
    const refused = await ask(adminToken.token, "", { name: poor.name });
    expect(refused.status).toBe(403);
    expect((await refused.json()).error).toContain("Team, Enterprise, Plus or Academia");
    expect(await db().auditEvent.count({ where: { orgId: poor.id, type: "audit_log.export" } })).toBe(0);
  });
});

describe("a log of 100,000 entries", () => {
  const many = newId();

  beforeAll(async () => {
    await db().organization.create({ data: { id: many, name: `many-${many}`, fullName: "Many", plan: "enterprise" } });
    await db().handle.create({ data: { handle: `many-${many}`, orgId: many } });
    await db().membership.create({ data: { orgId: many, userId: admin.id, role: "admin" } });
    await pool().query(
      `insert into audit_event (id, type, org_id, actor_id, created_at, data)
       select lpad(to_hex(n), 24, '0'), case when n % 10000 = 0 then 'repo.delete' else 'repo.create' end, $1, $2,
              '2026-01-01'::timestamptz + make_interval(secs => n / 3), jsonb_build_object('repo', 'r' || n)
         from generate_series(1, 100010) n`,
      [many, admin.id],
    );
  }, 60_000);

  test("is exported in pieces, which contain each entry up to the limit once, in order", async () => {
    const pieces = await exportAuditLog(
      async () => admin.actor,
      { kind: "organization", orgId: many },
      { q: "", format: "jsonl" },
      from,
    );
    let [count, last, largest] = [0, "g", 0];
    for await (const piece of pieces) {
      largest = Math.max(largest, piece.length);
      for (const line of piece.split("\n").slice(0, -1)) {
        const id = line.slice(8, 32);
        if (id >= last) expect.fail(`${id} after ${last}`);
        last = id;
        count++;
      }
    }
    expect(count).toBe(100_000);
    expect(largest).toBeLessThan(1_000_000);
  }, 60_000);

  test.each<[string, () => Promise<unknown>]>([
    [
      "is no longer an administrator",
      () => db().membership.delete({ where: { orgId_userId: { orgId: many, userId: leaver.id } } }),
    ],
    ["has a revoked token", () => pool().query("update personal_access_token set revoked_at = now()")],
  ])(
    "S114 is cut off when the user %s",
    async (_, end) => {
      const { token } = await tokenOf(leaver, ["manage-repos"]);
      await db().membership.createMany({ data: [{ orgId: many, userId: leaver.id, role: "admin" }], skipDuplicates: true });
      const answer = await ask(token, "?format=jsonl", { name: `many-${many}` });
      expect(answer.status).toBe(200);
      const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
      expect((await reader.read()).value?.length).toBeGreaterThan(0);
      await end();
      await expect(
        (async () => {
          while (!(await reader.read()).done);
        })(),
      ).rejects.toThrow();
    },
    60_000,
  );

  test("is read page by page from an index, at any depth", async () => {
    const owner = await pool().connect();
    const explain = async (where: string) => {
      const { rows } = await owner.query({
        text: `explain (analyze, buffers off, costs off, timing off, summary off) select * from audit_event e where ${where} order by e.created_at desc, e.id desc limit 51`,
        rowMode: "array",
      });
      return rows.flat().join("\n");
    };
    try {
      for (const where of [
        `e.org_id = '${many}'`,
        `e.org_id = '${many}' and (e.created_at, e.id) < ('2026-01-01T02:00:00Z', '0')`,
        `e.org_id = '${many}' and e.type = any ('{repo.delete}')`,
        `e.actor_id = '${admin.id}' and (e.created_at, e.id) < ('2026-01-01T02:00:00Z', '0')`,
        `(e.created_at, e.id) < ('2026-01-01T02:00:00Z', '0')`,
      ]) {
        const plan = await explain(where);
        expect(plan).toMatch(/Index Scan/);
        expect(plan).not.toMatch(/Seq Scan/);
        const removed = Number(plan.match(/Rows Removed by Filter: (\d+)/)?.[1] ?? 0);
        expect([where, removed < 200]).toEqual([where, true]);
      }
    } finally {
      owner.release();
    }
  });
});
