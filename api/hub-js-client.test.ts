import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as hub from "@huggingface/hub";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshName, organizationOf } from "#core/accounts/testing/people.ts";
import { provideSettings } from "#core/env.ts";
import { readRepo } from "#core/hub/repos/read-repos.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { eventsOf, fsck } from "#core/hub/testing/repos.ts";
import { type Caller, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  provideSettings({ TOKEN_PREFIX: "hf_" });
  world = await startApiWorld();
});
afterAll(async () => {
  await world.stop();
  provideSettings({ TOKEN_PREFIX: "kh_" });
});

const text = (content: string) => new Blob([content]);
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function all<T>(items: AsyncGenerator<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const clientOf = ({ accessToken }: Caller) => ({ hubUrl: world.origin, accessToken });

type Description = { name: string; updatedAt: Date };
type Describe = (params: Credentials & { name: string; additionalFields: ("sha" | "tags" | "author")[] }) => Promise<Description>;
type List = (params: Credentials & { search: { owner: string }; limit?: number }) => AsyncGenerator<Description>;
type Credentials = { hubUrl: string; accessToken?: string };

const infoOf: Record<Repo["type"], Describe> = { model: hub.modelInfo, dataset: hub.datasetInfo, space: hub.spaceInfo };
const listOf: Record<Repo["type"], List> = { model: hub.listModels, dataset: hub.listDatasets, space: hub.listSpaces };

describe.each(["model", "dataset", "space"] as const)("a %s", (type) => {
  test("is created, changed, read and deleted, with commits, a branch and a pull request", async () => {
    const ada = await someCaller("manage-repos", "write-discussions");
    const client = clientOf(ada);
    const name = `${ada.username}/tide-${type}`;
    const repo = { type, name };
    const at = { ...client, repo };
    const web = `${world.origin}/${type === "model" ? "" : `${type}s/`}${name}`;

    expect(await hub.repoExists(at)).toBe(false);
    const made = await hub.createRepo({ ...at, visibility: "private", sdk: "static" });
    expect(made).toEqual({ repoUrl: web, id: expect.stringMatching(/^[0-9a-f]{24}$/) });
    expect(await hub.repoExists(at)).toBe(true);
    expect(await hub.repoExists({ hubUrl: world.origin, repo })).toBe(false);
    await expect(hub.createRepo(at)).rejects.toMatchObject({ statusCode: 409 });
    await hub.checkRepoAccess(at);
    await expect(hub.checkRepoAccess({ hubUrl: world.origin, repo })).rejects.toMatchObject({ statusCode: 404 });

    const large = randomBytes(3 * 1024 * 1024);
    const first = await hub.uploadFiles({
      ...at,
      commitTitle: "Add tides",
      commitDescription: "All of them.",
      files: [
        { path: "README.md", content: text("---\ntags: [sea]\nsdk: static\n---\n# Tides\n") },
        { path: "data/ü ß #1?.csv", content: text("a,b\n1,2\n") },
        { path: "data/empty.txt", content: text("") },
        { path: "weights/model.safetensors", content: new Blob([large]) },
      ],
    });
    expect(first).toMatchObject({
      commit: { oid: expect.stringMatching(/^[0-9a-f]{40}$/), url: expect.stringMatching(`^${web}/commit/`) },
      hookOutput: "",
    });
    const head = first?.commit.oid as string;

    const listed = await all(hub.listFiles({ ...at, recursive: true, expand: true }));
    expect(
      listed
        .filter((entry) => entry.type === "file")
        .map((entry) => [entry.path, entry.size])
        .sort(),
    ).toEqual([
      [".gitattributes", expect.any(Number)],
      ["README.md", 40],
      ["data/empty.txt", 0],
      ["data/ü ß #1?.csv", 8],
      ["weights/model.safetensors", large.length],
    ]);
    expect(listed.find(({ path }) => path === "weights/model.safetensors")).toMatchObject({
      lfs: { oid: sha256(large), size: large.length, pointerSize: expect.any(Number) },
      lastCommit: { id: head, title: "Add tides" },
    });
    expect((await all(hub.listFiles(at))).map((entry) => `${entry.type} ${entry.path}`).sort()).toEqual([
      "directory data",
      "directory weights",
      "file .gitattributes",
      "file README.md",
    ]);

    const infos = await hub.pathsInfo({ ...at, paths: ["README.md", "weights/model.safetensors", "data", "gone"], expand: true });
    expect(infos.map(({ path, type: kind, size }) => [path, kind, size]).sort()).toEqual([
      ["README.md", "file", 40],
      ["data", "directory", 0],
      ["weights/model.safetensors", "file", large.length],
    ]);
    expect(infos[0]?.lastCommit).toMatchObject({ id: head, title: "Add tides", date: expect.any(Date) });

    const readme = await hub.downloadFile({ ...at, path: "README.md" });
    expect(await readme?.text()).toContain("# Tides");
    const weights = await hub.downloadFile({ ...at, path: "weights/model.safetensors" });
    expect(sha256(new Uint8Array((await weights?.arrayBuffer()) as ArrayBuffer))).toBe(sha256(large));
    expect(await hub.fileDownloadInfo({ ...at, path: "weights/model.safetensors" })).toMatchObject({
      size: large.length,
      etag: `"${sha256(large)}"`,
    });
    expect(await hub.fileDownloadInfo({ ...at, path: "gone.txt" })).toBeNull();
    const pointer = await hub.downloadFile({ ...at, path: "weights/model.safetensors", raw: true });
    expect(await pointer?.text()).toContain(`oid sha256:${sha256(large)}`);
    expect(await hub.fileExists({ ...at, path: "README.md" })).toBe(true);
    expect(await hub.fileExists({ ...at, path: "gone.txt" })).toBe(false);
    await expect(hub.downloadFile({ hubUrl: world.origin, repo, path: "README.md" })).rejects.toMatchObject({ statusCode: 404 });

    const second = (await hub.commit({
      ...at,
      title: "Change tides",
      parentCommit: head,
      operations: [
        { operation: "delete", path: "data/empty.txt" },
        { operation: "delete", path: "data/ü ß #1?.csv" },
        { operation: "addOrUpdate", path: "data", content: text("now a file") },
        {
          operation: "edit",
          path: "README.md",
          originalContent: readme as Blob,
          edits: [{ content: text("!"), start: 39, end: 39 }],
        },
      ],
    })) as hub.CommitOutput;
    expect(second.commit.oid).not.toBe(head);
    const late = hub.commit({ ...at, title: "Late", parentCommit: head, operations: [{ operation: "delete", path: "data" }] });
    await expect(late).rejects.toMatchObject({ statusCode: 412 });
    const commits = await all(hub.listCommits({ ...at, batchSize: 1 }));
    expect(commits.map(({ oid, title, authors }) => [oid, title, authors[0]?.username])).toEqual([
      [second.commit.oid, "Change tides", ada.username],
      [head, "Add tides", ada.username],
      [expect.stringMatching(/^[0-9a-f]{40}$/), "initial commit", ada.username],
    ]);
    expect(commits[1]?.message).toContain("All of them.");
    expect(await hub.countCommits(at)).toBe(3);

    const branch = "feature/tides";
    await hub.createBranch({ ...client, repo, branch, revision: head });
    await expect(hub.createBranch({ ...client, repo, branch })).rejects.toMatchObject({ statusCode: 409 });
    await hub.uploadFile({ ...at, branch, file: { path: "b.txt", content: text("on a branch") } });
    const onBranch = await hub.downloadFile({ ...at, revision: branch, path: "b.txt" });
    expect(await onBranch?.text()).toBe("on a branch");
    await hub.deleteBranch({ ...client, repo, branch });
    await expect(hub.deleteBranch({ ...client, repo, branch })).rejects.toMatchObject({ statusCode: 404 });
    await hub.createBranch({ ...client, repo, branch: "empty", empty: true });
    expect(await all(hub.listFiles({ ...at, revision: "empty" }))).toEqual([]);

    const proposed = await hub.commit({
      ...at,
      title: "Say more",
      isPullRequest: true,
      operations: [{ operation: "addOrUpdate", path: "more.txt", content: text("more") }],
    });
    expect(proposed?.pullRequestUrl).toBe(`${web}/discussions/1`);
    expect(await hub.fileExists({ ...at, path: "more.txt" })).toBe(false);
    expect(await hub.fileExists({ ...at, path: "more.txt", revision: "refs/pr/1" })).toBe(true);

    await hub.deleteFile({ ...at, path: "data" });
    await hub.deleteFiles({ ...at, paths: ["README.md", "weights/model.safetensors"] });
    expect((await all(hub.listFiles({ ...at, recursive: true }))).map(({ path }) => path)).toEqual([".gitattributes"]);

    const stored = (await readRepo(made.id)) as Repo;
    await fsck(stored);
    const contentEvents = (await eventsOf(stored)).filter(({ scope }) => scope === "repo.content");
    expect(contentEvents).toHaveLength(10);
    await hub.deleteRepo(at);
    expect(await hub.repoExists(at)).toBe(false);
  });

  test("is described, and listed under its owner", async () => {
    const ada = await someCaller();
    const organization = await organizationOf(ada);
    const client = clientOf(ada);
    const name = `${organization.name}/${freshName("tide")}`;
    const { id } = await hub.createRepo({ ...client, repo: { type, name }, private: false, sdk: "docker" });
    await hub.createRepo({ ...client, repo: { type, name: `${organization.name}/hidden` }, private: true });
    await hub.uploadFile({
      ...client,
      repo: { type, name },
      file: { path: "README.md", content: text("---\ntags: [sea]\n---\n") },
    });
    const info = await infoOf[type]({ hubUrl: world.origin, name, additionalFields: ["sha", "tags", "author"] });
    expect(info).toMatchObject({
      id,
      name,
      private: false,
      updatedAt: expect.any(Date),
      tags: ["sea"],
      author: organization.name,
      sha: expect.stringMatching(/^[0-9a-f]{40}$/),
      ...(type === "space" ? { sdk: "docker" } : { gated: false }),
    });
    expect(Number.isNaN(info.updatedAt.getTime())).toBe(false);
    const search = { owner: organization.name };
    const listed = async (credentials: Credentials) =>
      (await all(listOf[type]({ ...credentials, search }))).map((entry) => entry.name).sort();
    expect(await listed({ hubUrl: world.origin })).toEqual([name]);
    expect(await listed(client)).toEqual([name, `${organization.name}/hidden`].sort());
    if (type !== "space") expect(await all(listOf[type]({ ...client, search, limit: 1 }))).toHaveLength(1);
  });
});

test("a file of 40 MB is uploaded and downloaded whole, and is not uploaded twice", async () => {
  const ada = await someCaller();
  const client = clientOf(ada);
  const repo = { type: "dataset", name: `${ada.username}/large` } as const;
  await hub.createRepo({ ...client, repo });
  const large = Buffer.alloc(40 * 1024 * 1024, randomBytes(1024 * 1024));
  const events = hub.uploadFilesWithProgress({ ...client, repo, files: [{ path: "large.parquet", content: new Blob([large]) }] });
  const phases = new Set<string>();
  for await (const event of events) phases.add(event.event === "phase" ? event.phase : event.state);
  expect([...phases]).toEqual(
    expect.arrayContaining(["preuploading", "uploadingLargeFiles", "hashing", "uploading", "committing"]),
  );
  const puts: string[] = [];
  const counting: typeof fetch = (input, init) => {
    if (init?.method === "PUT" || /\/v1\/(xorbs|shards)/.test(String(input))) puts.push(String(input));
    return fetch(input, init);
  };
  await hub.uploadFile({ ...client, repo, fetch: counting, file: { path: "again.parquet", content: new Blob([large]) } });
  expect(puts).toEqual([]);
  const folder = await mkdtemp(join(tmpdir(), "keyhook-snapshot-"));
  try {
    const snapshot = await hub.snapshotDownload({ ...client, repo, cacheDir: folder });
    expect((await readdir(snapshot)).sort()).toEqual([".gitattributes", "again.parquet", "large.parquet"]);
    expect(sha256(await readFile(join(snapshot, "large.parquet")))).toBe(sha256(large));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a repository that is created with files and a license has both in one commit", async () => {
  const ada = await someCaller();
  const at = { ...clientOf(ada), repo: { type: "model", name: `${ada.username}/first` } as const };
  const files = [
    { path: "a/b.txt", content: text("b") },
    { path: "c.bin", content: new Uint8Array([0, 255]).buffer },
  ];
  await expect(hub.createRepo({ ...at, files: [...files, { path: "../d", content: text("d") }] })).rejects.toMatchObject({
    statusCode: 400,
  });
  expect(await hub.repoExists(at)).toBe(false);
  const { id } = await hub.createRepo({ ...at, license: "apache-2.0", files });
  const listed = await all(hub.listFiles({ ...at, recursive: true }));
  expect(listed.flatMap((entry) => (entry.type === "file" ? [entry.path] : []))).toEqual([
    "a/b.txt",
    ".gitattributes",
    "README.md",
    "c.bin",
  ]);
  expect(await hub.countCommits(at)).toBe(1);
  expect((await readRepo(id))?.card).toEqual({ license: "apache-2.0" });
});

test("the client learns its token's user, and gets an error if the token lacks a scope", async () => {
  const [ada, bea] = [await someCaller(), await someCaller("read-repos")];
  expect(await hub.whoAmI(clientOf(ada))).toMatchObject({ type: "user", name: ada.username, auth: { type: "access_token" } });
  const repo = { type: "model", name: `${bea.username}/tide` } as const;
  await expect(hub.createRepo({ ...clientOf(bea), repo })).rejects.toMatchObject({
    statusCode: 403,
    message: expect.stringContaining("lacks the scope"),
  });
  const file = { path: "a.txt", content: text("a") };
  await hub.createRepo({ ...clientOf(ada), repo: { type: "model", name: `${ada.username}/tide` } });
  await expect(
    hub.uploadFile({ ...clientOf(bea), repo: { type: "model", name: `${ada.username}/tide` }, file }),
  ).rejects.toMatchObject({ statusCode: 403 });
  await expect(hub.uploadFile({ ...clientOf(bea), repo: `${ada.username}/gone`, file })).rejects.toMatchObject({
    statusCode: 404,
  });
});
