import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { from, signedInPerson } from "../../accounts/testing/people.ts";
import { throttleCount, throttleKey } from "../../accounts/throttle.ts";
import { db } from "../../db.ts";
import { setStorageQuota } from "../../storage/manage-quotas.ts";
import { countBytes, countObjects } from "../git/count-objects.ts";
import { resolveRef } from "../git/refs/git-refs.ts";
import { openRepository } from "../git/repository.ts";
import { RanOutOfTime, runGit } from "../git/run-git.ts";
import { readRepo } from "../repos/read-repos.ts";
import type { Repo } from "../repos/repo.ts";
import { nameOf } from "../testing/discussions.ts";
import { someRepo } from "../testing/repos.ts";
import { mergePullRequest } from "./merge-pull-request.ts";
import { tryMerge } from "./merge-tree.ts";
import { openPullRequest } from "./open-pull-request.ts";

async function bothChange(files: number, lines: number, repo?: Repo): Promise<string> {
  const path = await openRepository(repo ?? (await someRepo(await signedInPerson("ada"), { type: "model" })));
  const text = Array.from({ length: lines }, () => randomBytes(48).toString("base64"));
  const data = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`;
  const commit = (branch: string, top: string, bottom: string, from = "") =>
    [
      `commit refs/heads/${branch}\ncommitter a <a@example.test> 0 +0000\n${data("change")}${from}`,
      ...Array.from({ length: files }, (_, at) => `M 100644 inline f${at}\n${data([top, at, ...text, bottom].join("\n"))}`),
    ].join("");
  const base = "from refs/heads/main\n";
  const input = commit("main", "a", "z") + commit("ours", "b", "z", base) + commit("theirs", "a", "y", base);
  await runGit(path, ["fast-import", "--quiet"], { input });
  return path;
}

const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith("keyhook-merge-"));

test("a merge works after an earlier one failed to ask for git's version", async () => {
  await expect(tryMerge(join(tmpdir(), "none"), "a", "b")).rejects.toThrow();
  const path = await bothChange(1, 1);
  const [ours = "", theirs = ""] = (await runGit(path, ["rev-parse", "ours", "theirs"])).toString().trim().split("\n");
  expect(await tryMerge(path, ours, theirs)).not.toMatchObject({ outcome: "unrelated" });
});

test("S137 the names of files with conflicts are limited in total", async () => {
  const path = await openRepository(await someRepo(await signedInPerson("ada"), { type: "model" }));
  const folder = Array.from({ length: 10 }, () => "<".repeat(200)).join("/");
  const commit = (branch: string, content: string, from = "") =>
    [
      `commit refs/heads/${branch}\ncommitter a <a@example.test> 0 +0000\ndata 1\nm\n${from}`,
      ...Array.from({ length: 200 }, (_, at) => `M 100644 inline ${folder}/${at}\ndata 1\n${content}\n`),
    ].join("");
  const base = "from refs/heads/main\n";
  await runGit(path, ["fast-import", "--quiet"], {
    input: commit("main", "a") + commit("ours", "b", base) + commit("theirs", "c", base),
  });
  const [ours = "", theirs = ""] = (await runGit(path, ["rev-parse", "ours", "theirs"])).toString().trim().split("\n");
  const merged = await tryMerge(path, ours, theirs);
  const names = merged.outcome === "conflicts" ? merged.files : [];
  expect(names.length).toBeGreaterThan(10);
  expect(names.join("").length).toBeLessThan(140_000);
});

test("S137 the preview of a merge that writes too much is stopped", async () => {
  const path = await bothChange(60, 4_000);
  const [ours = "", theirs = ""] = (await runGit(path, ["rev-parse", "ours", "theirs"])).toString().trim().split("\n");
  const before = left();
  const preview = tryMerge(path, ours, theirs, { maxBytes: 1_000_000, lookMs: 20 });
  await expect(preview).rejects.toBeInstanceOf(RanOutOfTime);
  await expect.poll(left).toEqual(before);
  const small = await bothChange(2, 10);
  const [one = "", other = ""] = (await runGit(small, ["rev-parse", "ours", "theirs"])).toString().trim().split("\n");
  expect(await tryMerge(small, one, other)).toMatchObject({ outcome: "clean" });
});

test("S137 small merges exceed the quota by a limited number of bytes a day", async () => {
  const ada = await signedInPerson("ada");
  const repo = await someRepo(ada, { type: "model" });
  await bothChange(1, 10, repo);
  const { row } = await openPullRequest(ada.actor, repo, { title: "Theirs", base: "ours", head: { branch: "theirs" } });
  await db().storageQuota.create({ data: { ownerId: ada.id, bytes: 1n } });
  const key = throttleKey("storage-overdraft", ada.id);
  const used = { key, count: 256 * 1024 * 1024, resetAt: new Date(Date.now() + 3_600_000) };
  await db().throttle.create({ data: used });
  const merge = () => mergePullRequest(ada.actor, nameOf(repo, row.num));
  await expect(merge()).rejects.toMatchObject({ code: "storage_full" });
  await db().throttle.delete({ where: { key } });
  await merge();
  expect(await throttleCount(key)).toBeGreaterThan(0);
});

test("S137 a merge is refused if git writes more than there is room for", async () => {
  const ada = await signedInPerson("ada");
  const repo = await someRepo(ada, { type: "model" });
  const path = await bothChange(3, 1_500, repo);
  const { row } = await openPullRequest(ada.actor, repo, { title: "Theirs", base: "ours", head: { branch: "theirs" } });
  const before = await countObjects(path);
  await setStorageQuota(operatorCommand, ada.username, "0.1 MB", from);
  const merge = () => mergePullRequest(ada.actor, nameOf(repo, row.num));
  await expect(merge()).rejects.toMatchObject({ code: "storage_full" });
  expect(await countObjects(path)).toEqual(before);
  await setStorageQuota(operatorCommand, ada.username, "1 GB", from);
  const sha = await merge();
  expect(await resolveRef(path, "refs/heads/ours")).toBe(sha);
  await runGit(path, ["fsck", "--strict"]);
  expect((await readRepo(repo.id))?.sizeBytes).toBe(await countBytes(path, 0));
});
