import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import { db } from "../../../db.ts";
import type { Release } from "../../../fair-queue/fair-queue.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../../testing/repos.ts";
import { watchProcesses } from "../../testing/watch-processes.ts";
import { walks } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { changeFiles, type FileChanges } from "./change-files.ts";

const nameOf = ({ type, fullName }: Repo) => {
  const [owner = "", name = ""] = fullName.split("/");
  return { type, owner, name };
};

const show = async (repo: Repo, what: string) => (await runGit(await openRepository(repo), ["show", what])).toString("utf8");

const change = (
  files: Record<string, string | null>,
  { areNew = false, ...more }: Partial<FileChanges> & { areNew?: boolean } = {},
): FileChanges => ({
  branch: "main",
  seen: null,
  summary: "Change it",
  files: Object.entries(files).map(([path, content]) => ({
    path,
    content: content === null ? null : Buffer.from(content),
    isNew: areNew,
  })),
  ...more,
});

test("another user's changes of other files stay, and those of this file are reported", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  const made = await changeFiles(ada.actor, nameOf(repo), change({ "a.txt": "1", "b.txt": "1" }, { areNew: true }));
  const seen = made.outcome === "committed" ? made.committed.sha : "";
  await commitTo(repo, bea, { "b.txt": "2" });
  expect(await changeFiles(ada.actor, nameOf(repo), change({ "a.txt": "2" }, { seen }))).toMatchObject({ outcome: "committed" });
  const theirs = await commitTo(repo, bea, { "a.txt": "theirs" }, { message: "My turn" });
  const head = await commitTo(repo, bea, { "c.txt": "3" });
  const before = (await eventsOf(repo)).length;
  for (const content of ["mine", null]) {
    expect(await changeFiles(ada.actor, nameOf(repo), change({ "a.txt": content }, { seen }))).toEqual({
      outcome: "overtaken",
      newer: { path: "a.txt", head, commit: theirs, authorName: "Ada", title: "My turn", isDeleted: false },
    });
  }
  expect((await eventsOf(repo)).length).toBe(before);
  const again = await changeFiles(ada.actor, nameOf(repo), change({ "a.txt": "mine" }, { seen: head }));
  expect(again.outcome).toBe("committed");
  expect(await show(repo, "main:a.txt")).toBe("mine");
  await fsck(repo);
});

describe("S137 the author of a file's latest change", () => {
  async function overtaken() {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const seen = await commitTo(repo, ada, { "a.txt": "1" });
    const head = await commitTo(repo, ada, { "a.txt": "2" });
    return { repo, head, ask: () => changeFiles(ada.actor, nameOf(repo), change({ "a.txt": "3" }, { seen })) };
  }

  test("is looked up in a slot for walks, by git with limits", async () => {
    const { repo, ask } = await overtaken();
    const logs: ChildProcess[] = [];
    const stopWatching = watchProcesses((child) => {
      child.once("spawn", () => child.spawnargs.includes("log") && logs.push(child));
    });
    const slots = await takeAll(repo);
    const asked = ask();
    await expect.poll(() => walks.counts.waiting).toBe(1);
    expect(logs).toEqual([]);
    for (const release of slots) release();
    expect(await asked).toMatchObject({ outcome: "overtaken", newer: { authorName: "Ada", title: "Add files" } });
    stopWatching();
    expect(logs.map(({ spawnfile }) => spawnfile)).toEqual([expect.stringMatching(/\/limited-git$/)]);
  });

  test("is missing if git does not find it in time", async () => {
    const { repo, head, ask } = await overtaken();
    const slots = await takeAll(repo);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      const asked = ask();
      await expect.poll(() => walks.counts.waiting).toBe(1);
      await vi.advanceTimersByTimeAsync(30_000);
      expect(await asked).toEqual({ outcome: "overtaken", newer: { path: "a.txt", head, commit: head, isDeleted: false } });
    } finally {
      vi.useRealTimers();
      for (const release of slots) release();
    }
  });

  async function takeAll(repo: Repo): Promise<Release[]> {
    const within = await openRepository(repo);
    const slots: Release[] = [];
    for (let slot = walks.tryTake({ within }); slot; slot = walks.tryTake({ within })) slots.push(slot);
    return slots;
  }
});

test("a new file replaces nothing, and one of ten simultaneous ones is created", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const asked = Array.from({ length: 10 }, (_, index) =>
    changeFiles(ada.actor, nameOf(repo), change({ "a.txt": String(index) }, { areNew: true })),
  );
  const settled = await Promise.allSettled(asked);
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const one of settled) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "conflict", field: "path" });
  expect(await eventsOf(repo)).toHaveLength(2);
});

test("files that .gitattributes assigns to Git LFS are stored there", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  await changeFiles(ada.actor, nameOf(repo), change({ "m.safetensors": "weights", "a.txt": "a" }));
  const oid = createHash("sha256").update("weights").digest("hex");
  expect(await show(repo, "main:m.safetensors")).toContain(`oid sha256:${oid}`);
  expect(await show(repo, "main:.gitattributes")).toContain("*.safetensors filter=lfs");
  expect(await db().lfsObject.count({ where: { repoId: repo.id, oid } })).toBe(1);
  const proposal = change({ "n.safetensors": "more" }, { isPullRequest: true });
  const proposed = await changeFiles(bea.actor, nameOf(repo), proposal);
  expect(proposed).toMatchObject({ outcome: "committed", committed: { pullRequest: 1 } });
  expect(await show(repo, "refs/pr/1:n.safetensors")).toContain("oid sha256:");
  expect(await db().lfsObject.count({ where: { repo: { ownerId: bea.id, proposedToId: repo.id } } })).toBe(1);
  await expect(changeFiles(bea.actor, nameOf(repo), change({ "n.safetensors": "more" }))).rejects.toMatchObject({
    code: "forbidden",
  });
});
