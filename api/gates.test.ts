import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { findOwnAccessRequest } from "#core/hub/gates/access-requests.ts";
import { askForAccess } from "#core/hub/gates/ask-for-access.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: TestPerson;
let repo: Repo;
let base: string;
let token: string;
beforeAll(async () => {
  world = await startApiWorld();
  ada = await signedInPerson("ada");
  const made = await someRepo(ada, { type: "dataset" });
  const wanted = { type: made.type, owner: ada.username, name: made.name };
  repo = await updateRepoSettings(ada.actor, wanted, { gated: "manual" }, from);
  base = `${world.origin}/api/datasets/${repo.fullName}/user-access-request`;
  token = await tokenOf(ada, ["manage-repos"]);
});
afterAll(() => world.stop());

async function tokenOf({ actor, id }: TestPerson, scopes: string[]): Promise<string> {
  return (await createPersonalAccessToken(actor, id, { name: "laptop", scopes, expiresInDays: 1 }, from)).token;
}

async function call(path: string, body?: unknown, bearer: string | null = token) {
  const answer = await fetch(base + path, {
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    headers: { "content-type": "application/json", ...(bearer && { authorization: `Bearer ${bearer}` }) },
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

async function asker(): Promise<TestPerson> {
  const person = await signedInPerson("grace");
  await askForAccess(person.actor, { type: "dataset", owner: ada.username, name: repo.name }, { message: "please" }, from);
  return person;
}

describe("user-access-request", () => {
  it("lists, accepts, resets and rejects access requests", async () => {
    const grace = await asker();
    const pending = await call("/pending");
    expect(pending.status).toBe(200);
    expect(pending.body).toContainEqual({
      user: expect.objectContaining({ user: grace.username, email: grace.email, fullname: grace.username, type: "user" }),
      status: "pending",
      fields: { message: "please" },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(pending.headers.get("x-total-count")).toBe("1");
    for (const [status, list] of [
      ["accepted", "/accepted"],
      ["pending", "/pending"],
      ["rejected", "/rejected"],
    ] as const) {
      const body = { user: grace.username, status, ...(status === "rejected" && { rejectionReason: "no" }) };
      expect((await call("/handle", body)).status, status).toBe(200);
      expect((await call(list)).body).toHaveLength(1);
    }
    expect(await findOwnAccessRequest(grace.actor, repo)).toMatchObject({ status: "rejected", rejectionReason: "no" });
    expect((await call("/handle", { userId: grace.id, status: "rejected" })).status).toBe(409);
  });

  it("grants access to a user who did not request it", async () => {
    const grace = await signedInPerson("grace");
    expect((await call("/grant", { user: grace.username })).status).toBe(200);
    expect((await call("/grant", { user: grace.username })).status).toBe(400);
    const { body } = await call("/accepted");
    expect(body.find(({ user }: { user: { _id: string } }) => user._id === grace.id).user.email).toBeUndefined();
  });

  it("lets the requester withdraw the request with the scope for gated repositories", async () => {
    const grace = await asker();
    expect((await call("/cancel", {}, await tokenOf(grace, ["read-repos"]))).status).toBe(404);
    expect((await call("/cancel", {}, await tokenOf(grace, ["gated-repos"]))).status).toBe(200);
    expect(await findOwnAccessRequest(grace.actor, repo)).toBeUndefined();
  });

  it("S135 requires a token, the permission and the scope", async () => {
    const grace = await asker();
    const paths: [string, unknown?][] = [
      ["/pending"],
      ["/handle", { user: grace.username, status: "accepted" }],
      ["/grant", { user: grace.username }],
    ];
    const stranger = await tokenOf(grace, ["manage-repos", "write-repos", "gated-repos"]);
    const narrow = await tokenOf(ada, ["write-repos", "read-repos"]);
    for (const [path, body] of paths) {
      expect((await call(path, body, null)).status, path).toBe(401);
      expect((await call(path, body, stranger)).status, path).toBe(403);
      expect((await call(path, body, narrow)).status, path).toBe(403);
    }
    expect(await findOwnAccessRequest(grace.actor, repo)).toMatchObject({ status: "pending" });
  });

  it("S138 refuses invalid input", async () => {
    for (const body of [
      {},
      [],
      { user: 1, status: "accepted" },
      { user: "a\0", status: "accepted" },
      { user: ada.username, status: "x" },
      "x",
    ]) {
      const { status } = await call("/handle", body);
      expect(status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
      expect(status, JSON.stringify(body)).toBeLessThan(500);
    }
    expect((await call("/sideways")).status).toBe(400);
    expect((await call("/pending?p=-1")).status).toBe(400);
    expect((await call("/pending?p=99999")).body).toEqual([]);
    const elsewhere = await fetch(`${world.origin}/api/nonsense/${repo.fullName}/user-access-request/pending`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(elsewhere.status).toBe(404);
  });
});
