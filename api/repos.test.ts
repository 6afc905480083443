import { createRepo, deleteRepo, listDatasets, listModels, listSpaces } from "@huggingface/hub";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { freshName, organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { provideSettings } from "#core/env.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  // The JS client accepts no token with another prefix (C1 in docs/specification/existing-clients.md).
  provideSettings({ TOKEN_PREFIX: "hf_" });
  world = await startApiWorld();
});
afterAll(() => world.stop());

async function tokenOf({ id }: TestPerson, scopes = ["manage-repos"]): Promise<string> {
  const made = await createPersonalAccessToken(operatorCommand, id, { name: "laptop", scopes, expiresInDays: 30 }, noOrigin);
  return made.token;
}

async function ask(method: string, path: string, token?: string, body?: unknown) {
  const response = await fetch(world.origin + path, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
}

describe("repositories over the API (docs/specification/repositories-and-git.md#repository-operations)", () => {
  test("are created, moved and deleted by the Python client's requests", async () => {
    const ada = await signedInPerson();
    const token = await tokenOf(ada);
    const made = await ask("POST", "/api/repos/create", token, { name: "tide", organization: null, type: null, private: true });
    expect(made).toMatchObject({
      status: 200,
      body: {
        url: `${world.origin}/${ada.username}/tide`,
        name: `${ada.username}/tide`,
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
      },
    });
    const again = await ask("POST", "/api/repos/create", token, { name: "Tide", organization: ada.username });
    expect(again).toMatchObject({
      status: 409,
      body: { url: made.body.url, error: expect.stringContaining("already exists") },
    });
    const blind = await ask("POST", "/api/repos/create", await tokenOf(ada, ["contribute-repos"]), { name: "tide" });
    expect(blind).toMatchObject({ status: 409, body: { url: made.body.url } });
    const move = { fromRepo: `${ada.username}/tide`, toRepo: `${ada.username}/moon`, type: "model" };
    expect(await ask("POST", "/api/repos/move", token, move)).toMatchObject({ status: 200, body: { id: made.body.id } });
    expect((await ask("GET", `/api/models/${ada.username}/tide/auth-check`, token)).status).toBe(200);
    expect((await ask("GET", `/api/models/${ada.username}/tide/auth-check`)).status).toBe(404);
    const gone = await ask("DELETE", "/api/repos/delete", token, { name: "moon", organization: ada.username });
    expect(gone.status).toBe(200);
    const missing = await ask("DELETE", "/api/repos/delete", token, { name: "moon" });
    expect(missing.status).toBe(404);
    expect(missing.headers.get("x-error-code")).toBe("RepoNotFound");
  });

  test("settings are stored by PUT and by POST", async () => {
    const ada = await signedInPerson();
    const token = await tokenOf(ada);
    const repo = await someRepo(ada, { type: "dataset" });
    const path = `/api/datasets/${repo.fullName}/settings`;
    const put = await ask("PUT", path, token, { visibility: "private", gated: "auto", discussionsDisabled: true });
    expect(put).toMatchObject({
      status: 200,
      body: { private: true, gated: "auto", discussionsDisabled: true, id: repo.fullName },
    });
    const post = await ask("POST", path, token, { private: false, gated: false, description: "Tides" });
    expect(post).toMatchObject({ status: 200, body: { private: false, gated: false, description: "Tides" } });
    for (const bad of [{ visibility: "protected" }, { gated: true }, { defaultBranch: "nope\0" }, [], "{", { private: "x" }]) {
      expect([bad, (await ask("PUT", path, token, bad)).status]).toEqual([bad, 400]);
    }
    expect((await ask("PUT", path, undefined, { private: true })).status).toBe(401);
    const lacking = await ask("PUT", path, await tokenOf(ada, ["write-repos"]), { private: true });
    expect(lacking).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
    expect(lacking.headers.get("www-authenticate")).toContain('scope="manage-repos"');
  });

  test("lists are paged by Link, and show each caller only what they may see", async () => {
    const ada = await signedInPerson();
    const token = await tokenOf(ada, ["read-repos"]);
    for (let made = 0; made < 5; made++) await someRepo(ada, { name: `r${made}`, type: "space", isPrivate: made === 0 });
    const query = `author=${ada.username}&sort=createdAt&direction=1&limit=2`;
    const seen: string[] = [];
    for (let url: string | undefined = `/api/spaces?${query}`; url; ) {
      const page = await ask("GET", url, token);
      expect(page.status).toBe(200);
      seen.push(...page.body.map(({ id }: { id: string }) => id.split("/")[1]));
      url = /<http:\/\/[^/]+([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1];
    }
    expect(seen).toEqual(["r0", "r1", "r2", "r3", "r4"]);
    expect((await ask("GET", `/api/spaces?author=${ada.username}`)).body).toHaveLength(4);
    expect((await ask("GET", `/api/models?author=${ada.username}`)).body).toEqual([]);
    for (const bad of ["limit=0", "limit=x", "cursor=zz", "pipeline_tag=text", "search=%00", "filter=%ED%A0%80", "author=%FF"]) {
      expect([bad, (await ask("GET", `/api/models?${bad}`)).status]).toEqual([bad, 400]);
    }
    expect((await ask("GET", "/api/models?limit=100000")).status).toBe(200);
    expect((await ask("GET", `/api/models?${"filter=a&".repeat(500)}`)).status).toBeLessThan(500);
  });

  test("are listed with their storage for their owner", async () => {
    const ada = await signedInPerson();
    const token = await tokenOf(ada);
    const [repo, secret] = [await someRepo(ada, { type: "dataset" }), await someRepo(ada, { isPrivate: true })];
    await commitTo(repo, ada, { "a.txt": "a".repeat(1_000) });
    const { usedStorage } = (await ask("GET", `/api/datasets/${repo.fullName}`, token)).body;
    const updatedAt = expect.stringMatching(/Z$/);
    expect((await ask("GET", "/api/settings/repositories", token)).body).toEqual([
      { id: repo.fullName, type: "dataset", visibility: "public", updatedAt, storage: usedStorage },
      { id: secret.fullName, type: "model", visibility: "private", updatedAt, storage: 0 },
    ]);
    expect((await ask("GET", "/api/settings/repositories")).status).toBe(401);
  });

  test("S138 unusual bodies and names get an error message, never a 5xx", async () => {
    const ada = await signedInPerson();
    const token = await tokenOf(ada);
    const names = [
      "",
      "..",
      ".git",
      "a.git",
      "a/b",
      "cafe\u0301",
      "café",
      "🌊",
      "a\0b",
      "\ud800",
      "settings",
      "x".repeat(10_000),
      7,
      null,
      {},
    ];
    for (const name of names) {
      expect([name, (await ask("POST", "/api/repos/create", token, { name })).status]).toEqual([name, 400]);
      const removal = await ask("DELETE", "/api/repos/delete", token, { name });
      expect([400, 404]).toContain(removal.status);
      const move = await ask("POST", "/api/repos/move", token, { fromRepo: `${ada.username}/x`, toRepo: name });
      expect([400, 404]).toContain(move.status);
    }
    for (const type of ["bucket", "kernel", "Model", 7]) {
      const refused = await ask("POST", "/api/repos/create", token, { name: "tide", type });
      expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining("choose model, dataset or space") } });
    }
    expect((await ask("POST", `/api/buckets/${ada.username}/x`, token, {})).body.error).toContain("no buckets");
    expect((await ask("POST", "/api/repos/create", token, { name: "tide", organization: freshName("none") })).status).toBe(404);
    for (const owner of ["%00", "%ED%A0%80", "x".repeat(5_000), "..", "%2e%2e%2fetc"]) {
      const { status } = await ask("GET", `/api/models/${owner}/tide/auth-check`, token);
      expect([400, 404]).toContain(status);
    }
  });

  test("a repository is created together with its first files, or not at all", async () => {
    const ada = await signedInPerson();
    const at = { accessToken: await tokenOf(ada), hubUrl: world.origin };
    const repo = { type: "dataset", name: `${ada.username}/tide` } as const;
    const files = [{ path: "a/b.bin", content: Uint8Array.from([0, 255, 10]).buffer }];
    await expect(createRepo({ ...at, repo, files: [{ path: "../b", content: new Blob(["b"]) }] })).rejects.toMatchObject({
      statusCode: 400,
    });
    expect((await ask("GET", `/api/datasets/${repo.name}/auth-check`, at.accessToken)).status).toBe(404);
    await createRepo({ ...at, repo, files, license: "cc0-1.0" });
    const info = await ask("GET", `/api/datasets/${repo.name}`, at.accessToken);
    expect(info.body).toMatchObject({
      siblings: expect.arrayContaining([{ rfilename: "README.md" }, { rfilename: "a/b.bin" }]),
      cardData: { license: "cc0-1.0" },
    });
    const file = await fetch(`${world.origin}/datasets/${repo.name}/resolve/main/a/b.bin`);
    expect([...new Uint8Array(await file.arrayBuffer())]).toEqual([0, 255, 10]);
  });

  test("the JS client creates, lists and deletes a repository of each type", async () => {
    const ada = await signedInPerson();
    const at = { accessToken: await tokenOf(ada), hubUrl: world.origin };
    const search = { owner: ada.username };
    for (const [type, list] of [
      ["model", () => listModels({ ...at, search })],
      ["dataset", () => listDatasets({ ...at, search })],
      ["space", () => listSpaces({ ...at, search })],
    ] as const) {
      const repo = { type, name: `${ada.username}/tide` };
      const { repoUrl, id } = await createRepo({ ...at, repo, visibility: "private" });
      expect(repoUrl).toBe(`${world.origin}${type === "model" ? "" : `/${type}s`}/${repo.name}`);
      const listed = [];
      for await (const one of list()) listed.push(one);
      expect(listed).toMatchObject([{ id, name: repo.name, private: true, likes: 0, updatedAt: expect.any(Date) }]);
      await expect(createRepo({ ...at, repo })).rejects.toMatchObject({ statusCode: 409 });
      await deleteRepo({ ...at, repo });
      await expect(deleteRepo({ ...at, repo })).rejects.toMatchObject({ statusCode: 404 });
    }
  });
});

describe("people over the API (docs/specification/organizations-and-tokens.md#people-and-organizations)", () => {
  test("overviews count only what the caller may see, and only members see memberships", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const organization = await organizationOf(ada, [[bea, "read"]]);
    await someRepo(ada, { isPrivate: true });
    const shown = await someRepo(ada, { type: "dataset" });
    await commitTo(shown, ada, { "README.md": "---\ntags: [sea]\npipeline_tag: tides\n---\n" });
    await someRepo(ada, { owner: organization.name, isPrivate: true });
    const [own, other] = [await tokenOf(ada, ["read-repos"]), await tokenOf(bea, ["read-repos"])];
    const overview = `/api/users/${ada.username}/overview`;
    expect((await ask("GET", overview, own)).body).toMatchObject({
      user: ada.username,
      numModels: 1,
      numDatasets: 1,
      numSpaces: 0,
    });
    expect((await ask("GET", overview, other)).body).toMatchObject({ numModels: 0, orgs: [{ name: organization.name }] });
    expect((await ask("GET", overview)).body).toMatchObject({ numModels: 0, numDatasets: 1, orgs: [] });
    expect((await ask("GET", `/api/datasets?author=${ada.username}&filter=sea`)).body).toMatchObject([
      { id: shown.fullName, tags: ["sea"], pipeline_tag: "tides", cardData: { tags: ["sea"] } },
    ]);
    const ofOrganization = `/api/organizations/${organization.name}`;
    expect((await ask("GET", `${ofOrganization}/overview`, other)).body).toMatchObject({ name: organization.name, numModels: 1 });
    expect((await ask("GET", `${ofOrganization}/overview`)).body).toMatchObject({ numModels: 0 });
    const members = await ask("GET", `${ofOrganization}/members?limit=1`, other);
    expect(members.body).toMatchObject([{ user: ada.username, role: "admin" }]);
    expect(members.headers.get("link")).toContain("p=2");
    expect((await ask("GET", `${ofOrganization}/members`)).status).toBe(401);
    expect((await ask("GET", `${ofOrganization}/members`, await tokenOf(await signedInPerson("cy")))).status).toBe(403);
    expect((await ask("GET", `/api/organizations/${ada.username}/overview`)).status).toBe(404);
    expect((await ask("GET", `/api/users/${organization.name}/overview`)).status).toBe(404);
    expect((await ask("GET", `/api/users/${ada.username}/avatar`)).body.avatarUrl).toContain("/avatars/");
  });
});
