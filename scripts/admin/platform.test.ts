import { expect, test } from "vitest";
import { freshName, signedInPerson } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { findPlatform } from "#core/hub/platforms/platform.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { adminLine as admin } from "./testing/admin-line.ts";

test("a platform is created and listed, gets a new token, and is revoked", async () => {
  const name = freshName("forge");
  const source = `https://${name}.example`;
  const { json: made } = await admin("platform", "create", "--name", name, "--source", source);
  expect(made).toMatchObject({ name, source, token: expect.stringMatching(/^kh_platform_/) });
  const { json: listed, text } = await admin("platform", "list");
  expect(listed).toMatchObject({
    platforms: expect.arrayContaining([expect.objectContaining({ name, source, repos: 0, last_used_at: null })]),
  });
  expect(text).not.toContain(made.token);
  const { json: rotated } = await admin("platform", "rotate", "--name", name);
  expect(await findPlatform(String(rotated.token))).toMatchObject({ name });
  expect(await findPlatform(String(made.token))).toMatchObject({ name });
  expect(await admin("platform", "revoke", "--name", name)).toMatchObject({ json: { revoked: name, removed_repos: 0 } });
  for (const { token } of [made, rotated]) expect(await findPlatform(String(token))).toBeUndefined();
  expect(await admin("platform", "revoke", "--name", name)).toMatchObject({ exitCode: 1, json: { code: "not_found" } });
  const trail = await db().auditEvent.findMany({
    where: { data: { path: ["platformId"], equals: String(made.id) } },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
  expect(trail.map(({ type }) => type).sort()).toEqual(["platform.create", "platform.revoke", "platform.rotate_token"]);
});

test("platform create names the invalid option, and no two platforms may report the same source", async () => {
  const name = freshName("forge");
  const make = (source: string, called = freshName("forge")) => admin("platform", "create", "--name", called, "--source", source);
  for (const source of ["git.example", "https://", "https://a b", "https://a.example/?q", "nothing:"]) {
    expect(await make(source)).toMatchObject({ exitCode: 2, json: { field: "source" } });
  }
  await make(`https://${name}.example/git`, name);
  expect(await make(`https://${name}.example/git/inner`)).toMatchObject({ json: { code: "conflict", field: "source" } });
  expect(await make(`https://${name}.example`)).toMatchObject({ json: { code: "conflict", field: "source" } });
  expect(await make(`https://${name}.example/other`, name.toUpperCase())).toMatchObject({
    json: { code: "conflict", field: "name" },
  });
  expect(await make(`https://${name}.example/gitea`)).toMatchObject({ json: { source: `https://${name}.example/gitea` } });
});

test("event list shows a repository's events as webhooks get them, even after the repository was deleted", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada, { type: "dataset" });
  const sha = await commitTo(repo, ada, { "a.txt": "a" });
  await db().$executeRaw`UPDATE event SET payload = jsonb_set(payload::jsonb, '{repo,name}', to_jsonb(${"a\nb\tc"}::text))
    WHERE repo_id = ${repo.id} AND scope = 'repo.content'`;
  const { json, text } = await admin("event", "list", "--repo", repo.fullName, "--type", "dataset");
  expect(json).toMatchObject({
    events: [
      { scope: "repo.content", action: "update", actor_id: ada.id, payload: { repo: { headSha: sha } } },
      { scope: "repo", action: "create" },
    ],
  });
  expect(text.split("\n")).toHaveLength(2);
  expect(text).toContain("\tdataset a b c\t");
  await db().repo.delete({ where: { id: repo.id } });
  expect((await admin("event", "list", "--repo", repo.id, "--limit", "1")).json).toMatchObject({
    events: [{ scope: "repo.content" }],
  });
  expect(await admin("event", "list", "--repo", repo.fullName)).toMatchObject({ exitCode: 1, json: { code: "not_found" } });
  await expect(admin("event", "list", "--limit", "many")).resolves.toMatchObject({ exitCode: 2 });
});
