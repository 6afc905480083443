import { eventPayloadSchema } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { setDefaultVisibility } from "../../accounts/organizations/default-visibility.ts";
import { freshName, from, organizationOf, outcomes, signedInPerson } from "../../accounts/testing/people.ts";
import { someApp } from "../../accounts/testing/tokens.ts";
import { throttleKey } from "../../accounts/throttle.ts";
import { db } from "../../db.ts";
import { queueForLock } from "../../testing/as-owner.ts";
import { openRepository } from "../git/repository.ts";
import { runGit } from "../git/run-git.ts";
import { readLfsFilters } from "../git/write/lfs-attributes.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../testing/repos.ts";
import { createRepo, createRepoWithFiles } from "./create-repo.ts";
import { findRepo } from "./find-repo.ts";
import type { Repo } from "./repo.ts";

describe("createRepo", () => {
  test("creates a repository that accepts commits", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada, { name: "Tide-Tables", type: "dataset" });
    expect(repo).toMatchObject({ fullName: `${ada.username}/Tide-Tables`, headSha: null, isPrivate: false });
    const sha = await commitTo(repo, ada, { "README.md": "---\ntags: [sea, moon]\n---\n# Tides\n", "a b/ü.txt": "hm" });
    await fsck(repo);
    const found = await findRepo(ada.actor, { type: "dataset", owner: ada.username.toUpperCase(), name: "tide-tables" });
    expect(found).toMatchObject({ headSha: sha, tags: ["sea", "moon"], card: { tags: ["sea", "moon"] } });
    const events = await eventsOf(repo);
    expect(events.map(({ scope, action }) => `${scope} ${action}`)).toEqual(["repo create", "repo.content update"]);
    for (const { payload } of events) eventPayloadSchema.parse(payload);
    expect(events[1]?.payload).toMatchObject({
      repo: { name: repo.fullName, headSha: sha, tags: ["sea", "moon"] },
      updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha: sha }],
    });
  });

  test("creates one repository if several requests name the same type and name, ignoring case", async () => {
    const ada = await signedInPerson();
    await someRepo(ada, { name: "Tide" });
    await someRepo(ada, { name: "tide", type: "space" });
    await expect(someRepo(ada, { name: "TIDE" })).rejects.toMatchObject({ code: "conflict" });
    const asked = [1, 2, 3].map(() => someRepo(ada, { name: "moon" }));
    expect(await outcomes(asked)).toEqual(["conflict", "conflict", "ok"]);
  });

  test("is limited to a thousand repositories an hour for a user", async () => {
    const ada = await signedInPerson();
    await someRepo(ada);
    const key = throttleKey("repo_create", ada.id);
    await db().throttle.update({ where: { key }, data: { count: 999 } });
    await someRepo(ada);
    await expect(someRepo(ada)).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: expect.any(Number) });
  });

  test("S135 refuses a member who is removed while the request waits", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const { id, name } = await organizationOf(ada, [[bea, "write"]]);
    const lock = `select from organization where id = '${id}' for update; delete from membership where user_id = '${bea.id}'`;
    const make = () => createRepo(bea.actor, { type: "model", owner: name, name: "tide" }, from);
    const [made] = await queueForLock(lock, [make]);
    await expect(made).rejects.toMatchObject({ code: "forbidden" });
    expect(await db().repo.count({ where: { ownerId: id } })).toBe(0);
  });

  test("S135 allows contributors of an organization, and refuses its readers", async () => {
    const [ada, bea, cy] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
    const organization = await organizationOf(ada, [
      [bea, "contributor"],
      [cy, "read"],
    ]);
    const make = (person: typeof ada) =>
      createRepo(person.actor, { type: "model", owner: organization.name, name: `by-${person.username}` }, from);
    await expect(make(bea)).resolves.toMatchObject({ createdById: bea.id });
    await expect(make(cy)).rejects.toMatchObject({ code: "forbidden" });
    await expect(make(await signedInPerson("dan"))).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("createRepoWithFiles", () => {
  const read = async (repo: Repo, path: string) =>
    (await runGit(await openRepository(repo), ["cat-file", "blob", `${repo.headSha}:${path}`])).toString();

  test("creates a first commit with .gitattributes for large files and a README.md", async () => {
    const ada = await signedInPerson();
    const make = (input: Partial<Parameters<typeof createRepoWithFiles>[1]>) =>
      createRepoWithFiles(ada.actor, { type: "model", owner: ada.username, name: freshName("tide"), ...input }, from);
    const model = await make({});
    expect(model.headSha).toMatch(/^[0-9a-f]{40}$/);
    await fsck(model);
    const paths = ["a/b.safetensors", "saved_model/x/y", "events.out.tfevents.1", "a.tar.7", "a.lfs.b", "a.txt"];
    const filters = await readLfsFilters(await openRepository(model), paths, { commit: model.headSha });
    expect(paths.map((path) => filters.get(path))).toEqual(["lfs", "lfs", "lfs", "lfs", "lfs", undefined]);
    const space = await make({ type: "space", name: "tide-clock", sdk: "static", license: 'mit: "x"' });
    expect(space).toMatchObject({ sdk: "static", card: { title: "tide clock", sdk: "static", license: 'mit: "x"' } });
    const files = [
      { path: "README.md", content: Buffer.from("# Mine\n") },
      { path: ".gitattributes", content: Buffer.from("*.csv filter=lfs\n") },
    ];
    const replaced = await make({ license: "mit", files });
    expect([await read(replaced, "README.md"), await read(replaced, ".gitattributes")]).toEqual([
      "# Mine\n",
      "*.csv filter=lfs\n",
    ]);
    expect((await make({ autoInit: false })).headSha).toBeNull();
  });

  test.each([
    ["a large file", [["a.bin", Buffer.alloc(11 * 1024 * 1024)]], "payload_too_large"],
    ["attributes that git cannot read", [["x/.gitattributes", Buffer.alloc(3_000, "x")]], "invalid_request"],
    [
      "a file below a file",
      [
        ["a", Buffer.from("1")],
        ["a/b/c", Buffer.from("2")],
      ],
      "invalid_request",
    ],
    [
      "a file that is a folder",
      [
        ["a/b/c", Buffer.from("1")],
        ["a", Buffer.from("2")],
      ],
      "invalid_request",
    ],
  ] as const)("with %s creates nothing", async (_what, contents, code) => {
    const ada = await signedInPerson();
    const files = contents.map(([path, content]) => ({ path, content }));
    const input = { type: "model", owner: ada.username, name: freshName("tide"), files } as const;
    await expect(createRepoWithFiles(ada.actor, input, from)).rejects.toMatchObject({ code });
    expect(await db().repo.count({ where: { ownerId: ada.id } })).toBe(0);
  });

  test("S137 refuses to create a repository for another user without examining the files", async () => {
    const [ada, eve] = [await signedInPerson(), await signedInPerson()];
    const files = [{ path: ".gitattributes", content: Buffer.alloc(3_000, "x") }];
    const asked = createRepoWithFiles(eve.actor, { type: "model", owner: ada.username, name: "tide", files }, from);
    await expect(asked).rejects.toMatchObject({ code: "forbidden" });
  });

  test("S135 works for an app that may only create repositories and write to these", async () => {
    const ada = await signedInPerson();
    const clientId = await someApp();
    const scopes = ["contribute-repos"] as const;
    const actor = { kind: "token", tokenId: "t", userId: ada.id, scopes, orgIds: "all", clientId } as const;
    const name = freshName("tide");
    const repo = await createRepoWithFiles(actor, { type: "model", owner: ada.username, name }, from);
    expect(repo.headSha).toMatch(/^[0-9a-f]{40}$/);
  });
});

test("an organization's repository gets the visibility that the organization has set", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson()];
  const { id, name } = await organizationOf(ada, [[bea, "write"]]);
  await setDefaultVisibility(ada.actor, id, "private", from);
  await expect(setDefaultVisibility(bea.actor, id, "public", from)).rejects.toMatchObject({ code: "forbidden" });
  await expect(setDefaultVisibility(ada.actor, id, "protected", from)).rejects.toMatchObject({ field: "defaultVisibility" });
  const make = (owner: string, isPrivate?: boolean) =>
    createRepo(bea.actor, { type: "model", owner, name: freshName("tide"), isPrivate }, from);
  expect(await make(name)).toMatchObject({ isPrivate: true });
  expect(await make(name, false)).toMatchObject({ isPrivate: false });
  expect(await make(bea.username)).toMatchObject({ isPrivate: false });
});
