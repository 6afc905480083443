import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventPayloadSchema } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { outcomes, signedInPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { BRANCHES_AND_TAGS_LEFT, REPOSITORY_REFS_MAX, resolveRef } from "../git/refs/git-refs.ts";
import { openRepository } from "../git/repository.ts";
import { createTag } from "../git/write/branches-and-tags.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../testing/repos.ts";
import { openDiscussion } from "./open-discussion.ts";
import { openPullRequest } from "./open-pull-request.ts";

const namesOf = (events: { scope: string; action: string }[]) => events.map(({ scope, action }) => `${scope} ${action}`);

describe("openPullRequest", () => {
  test("without a head opens a draft at the base, and records events", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const repo = await someRepo(ada);
    const sha = await commitTo(repo, ada, { "a.txt": "a" });
    const { row, headSha } = await openPullRequest(bea.actor, repo, { title: " Say  more ", description: "because" });
    expect(row).toMatchObject({ num: 1, title: "Say more", status: "draft", baseRef: "refs/heads/main", authorId: bea.id });
    expect(headSha).toBe(sha);
    expect(await resolveRef(await openRepository(repo), "refs/pr/1")).toBe(sha);
    const events = (await eventsOf(repo)).slice(2);
    expect(namesOf(events).sort()).toEqual(["discussion create", "repo.content update"]);
    for (const { payload } of events) eventPayloadSchema.parse(payload);
    expect(events.find(({ scope }) => scope === "discussion")?.payload).toMatchObject({
      discussion: { num: 1, isPullRequest: true, status: "draft", changes: { base: "refs/heads/main" }, author: { id: bea.id } },
      comment: { content: "because", hidden: false },
    });
    expect(events.find(({ scope }) => scope === "repo.content")?.payload).toMatchObject({
      updatedRefs: [{ ref: "refs/pr/1", oldSha: null, newSha: sha }],
    });
    await fsck(repo);
  });

  test("S137 requires room for the new ref", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const sha = await commitTo(repo, ada, { "a.txt": "a" });
    const refs = Array.from({ length: REPOSITORY_REFS_MAX }, (_, at) => `${sha} refs/tags/${at}\n`);
    await writeFile(join(await openRepository(repo), "packed-refs"), refs.join(""));
    await expect(openPullRequest(ada.actor, repo, { title: "More" })).rejects.toMatchObject({ code: "conflict" });
    expect(await db().discussion.count({ where: { repoId: repo.id } })).toBe(0);
  });

  test("S137 leaves room for branches and tags", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const repo = await someRepo(ada);
    const sha = await commitTo(repo, ada, { "a.txt": "a" });
    const refs = Array.from({ length: REPOSITORY_REFS_MAX - BRANCHES_AND_TAGS_LEFT }, (_, at) => `${sha} refs/pr/${at + 10}\n`);
    await writeFile(join(await openRepository(repo), "packed-refs"), refs.sort().join(""));
    await expect(openPullRequest(bea.actor, repo, { title: "More" })).rejects.toMatchObject({ code: "conflict" });
    await createTag(ada.actor, { type: repo.type, owner: ada.username, name: repo.name }, { tag: "v1" });
  });

  test("with a branch proposes the branch's commits", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await commitTo(repo, ada, { "a.txt": "a" });
    const path = await openRepository(repo);
    const base = await resolveRef(path, "refs/heads/main");
    const { runGit } = await import("../git/run-git.ts");
    await runGit(path, ["update-ref", "refs/heads/more", base as string]);
    await commitTo(repo, ada, { "b.txt": "b" }, { branch: "more", message: "One" });
    const tip = await commitTo(repo, ada, { "c.txt": "c" }, { branch: "more", message: "Two" });
    const { row, headSha } = await openPullRequest(ada.actor, repo, { title: "More", head: { branch: "more" } });
    expect([row.status, headSha]).toEqual(["open", tip]);
    const shown = await db().discussionEvent.findMany({ where: { discussionId: row.id }, orderBy: { createdAt: "asc" } });
    expect(shown.map(({ type, data }) => [type, (data as { subject?: string }).subject])).toEqual([
      ["commit", "One"],
      ["commit", "Two"],
    ]);
    await expect(openPullRequest(ada.actor, repo, { title: "None", head: { branch: "main" } })).rejects.toMatchObject({
      code: "conflict",
    });
    const opening = (branch: string) => openPullRequest(ada.actor, repo, { title: "None", head: { branch } });
    await expect(opening("gone")).rejects.toMatchObject({ code: "not_found" });
    for (const branch of ["a\0b", "../x", "-d", "a b", "x".repeat(2_000), "\ud800"]) {
      await expect(opening(branch)).rejects.toMatchObject({ code: "invalid_request" });
    }
    expect(await db().discussion.count({ where: { repoId: repo.id } })).toBe(1);
  });
});

test("twenty simultaneous discussions and pull requests get the numbers 1 to 20", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
  const opened = Array.from({ length: 20 }, (_, index) =>
    index % 4 === 0
      ? openPullRequest(ada.actor, repo, { title: `pull request ${index}` })
      : openDiscussion(ada.actor, repo, { title: `discussion ${index}` }),
  );
  const nums = (await Promise.all(opened)).map(({ row }) => row.num).sort((a, b) => a - b);
  expect(nums).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});

test("no discussion or pull request can be opened where discussions are disabled", async () => {
  const ada = await signedInPerson();
  const repo = { ...(await someRepo(ada)), hasDiscussions: false };
  expect(
    await outcomes([openDiscussion(ada.actor, repo, { title: "Why" }), openPullRequest(ada.actor, repo, { title: "Why" })]),
  ).toEqual(["conflict", "conflict"]);
  expect(await db().discussion.count({ where: { repoId: repo.id } })).toBe(0);
});
