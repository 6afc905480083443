import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import { db } from "../../../db.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../../testing/repos.ts";
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

test("what others did to other files stays, and what they did to this one is told, not written over", async () => {
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
  // A user who has seen their version may go on.
  const again = await changeFiles(ada.actor, nameOf(repo), change({ "a.txt": "mine" }, { seen: head }));
  expect(again.outcome).toBe("committed");
  expect(await show(repo, "main:a.txt")).toBe("mine");
  await fsck(repo);
});

test("a new file is put nowhere where something is, and of ten of one name one is made", async () => {
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

test("what .gitattributes give to Git LFS goes there, of those who may write", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  await changeFiles(ada.actor, nameOf(repo), change({ "m.safetensors": "weights", "a.txt": "a" }));
  const oid = createHash("sha256").update("weights").digest("hex");
  expect(await show(repo, "main:m.safetensors")).toContain(`oid sha256:${oid}`);
  expect(await show(repo, "main:.gitattributes")).toContain("*.safetensors filter=lfs");
  expect(await db().lfsObject.count({ where: { repoId: repo.id, oid } })).toBe(1);
  const proposal = change({ "n.safetensors": "more" }, { isPullRequest: true });
  await expect(changeFiles(bea.actor, nameOf(repo), proposal)).rejects.toMatchObject({ code: "forbidden" });
  const text = await changeFiles(bea.actor, nameOf(repo), change({ "b.txt": "more" }, { isPullRequest: true }));
  expect(text).toMatchObject({ outcome: "committed", committed: { pullRequest: 1 } });
});
