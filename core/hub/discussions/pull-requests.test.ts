import { eventPayloadSchema, type Scope } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { from, organizationOf, outcomes, signedInPerson } from "../../accounts/testing/people.ts";
import { appToken } from "../../accounts/testing/tokens.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { walks } from "../git/queues.ts";
import { resolveRef } from "../git/refs/git-refs.ts";
import { openRepository } from "../git/repository.ts";
import { runGit } from "../git/run-git.ts";
import { createCommit } from "../git/write/create-commit.ts";
import { createRepo } from "../repos/create-repo.ts";
import type { Repo } from "../repos/repo.ts";
import { branchWith, nameOf, setRef } from "../testing/discussions.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../testing/repos.ts";
import { watchProcesses } from "../testing/watch-processes.ts";
import { deleteDiscussion, deletePullRequestRef } from "./delete-discussion.ts";
import { findDiscussion } from "./find-discussion.ts";
import { mergePullRequest } from "./merge-pull-request.ts";
import { isNewEnough } from "./merge-tree.ts";
import { openPullRequest } from "./open-pull-request.ts";
import { changeStatus, setLocked } from "./properties.ts";
import { pullRequestPushRefusal } from "./pull-request-push-refusal.ts";
import { pullRequestRange, readPullRequestState } from "./read-pull-request.ts";
import { readTimeline } from "./read-timeline.ts";

const read = async (repo: Repo, revision: string) =>
  (await runGit(await openRepository(repo), ["log", "-1", "--format=%P|%an|%ae|%B", "--end-of-options", revision])).toString(
    "utf8",
  );
const headOf = async (repo: Repo, ref = "refs/heads/main") => resolveRef(await openRepository(repo), ref);
const typesOf = async (repo: Repo) => (await eventsOf(repo)).map(({ scope, action }) => `${scope} ${action}`);

async function proposed(files: Record<string, string> = { "b.txt": "b" }) {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  const base = await commitTo(repo, ada, { "a.txt": "a" });
  const head = await branchWith(repo, ada, "more", files, { message: "Say more" });
  const { row } = await openPullRequest(bea.actor, repo, { title: "More", head: { sha: head } });
  const at = nameOf(repo, row.num);
  const status = async () => (await findDiscussion(ada.actor, at)).discussion.status;
  return { ada, bea, repo, base, head, row, at, status };
}

describe("mergePullRequest", () => {
  test("S137 holds a slot for walks and has a memory limit", async () => {
    const seen: { command: string; places: number; memory: string | undefined }[] = [];
    const { ada, repo, at } = await proposed();
    await commitTo(repo, ada, { "c.txt": "c" });
    const stopWatching = watchProcesses((child) => {
      child.once("spawn", () => {
        const command = child.spawnargs.find((word) => word === "merge-tree" || word === "merge-base");
        if (command) seen.push({ command, places: walks.counts.taken, memory: child.spawnargs[1] });
      });
    });
    await mergePullRequest(ada.actor, at).finally(stopWatching);
    expect(seen.map(({ command }) => command)).toEqual(["merge-base", "merge-base", "merge-tree"]);
    for (const { places, memory } of seen) expect([places, memory]).toEqual([1, String(256 * 1024)]);
    expect(walks.counts.taken).toBe(0);
  });

  test("creates one merge commit by the merging user, and one event of each kind", async () => {
    const { ada, repo, base, head, row, at, status } = await proposed();
    const before = (await eventsOf(repo)).length;
    const merged = await mergePullRequest(ada.actor, at, { comment: "Thank you.", headSha: head });
    expect(await headOf(repo)).toBe(merged);
    expect(await read(repo, merged)).toMatch(
      new RegExp(`^${base} ${head}\\|${ada.username}\\|${ada.id}\\+.*noreply.*\\|Merge pull request #1\n\nMore\n`),
    );
    expect(await status()).toBe("merged");
    const events = (await eventsOf(repo)).slice(before);
    expect(events.map(({ scope, action }) => `${scope} ${action}`)).toEqual([
      "repo.content update",
      "discussion update",
      "discussion.comment create",
    ]);
    for (const { payload } of events) eventPayloadSchema.parse(payload);
    expect(events[0]?.payload).toMatchObject({
      repo: { headSha: merged },
      updatedRefs: [{ ref: "refs/heads/main", oldSha: base, newSha: merged }],
    });
    expect(events[1]?.payload).toMatchObject({
      discussion: { status: "merged", changes: { base: "refs/heads/main", mergeCommitId: merged } },
    });
    const { discussion } = await findDiscussion(ada.actor, at);
    expect(await pullRequestRange(repo, discussion)).toEqual({ headSha: head, baseSha: base });
    expect((await readTimeline(ada.actor, row)).items.map(({ type }) => type)).toEqual(["commit", "status-change", "comment"]);
    await fsck(repo);
    await expect(mergePullRequest(ada.actor, at)).rejects.toMatchObject({ code: "conflict" });
  });

  test("fast-forwards the branch on request", async () => {
    const { ada, repo, head, at } = await proposed();
    expect(await mergePullRequest(ada.actor, at, { isFastForward: true })).toBe(head);
    expect(await headOf(repo)).toBe(head);
    const again = await proposed();
    await commitTo(again.repo, again.ada, { "c.txt": "c" });
    await expect(mergePullRequest(again.ada.actor, again.at, { isFastForward: true })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("merge commit"),
    });
  });

  test("names the files in conflict, and changes nothing", async () => {
    const { ada, repo, at, row, status } = await proposed({ "a.txt": "theirs", "dir/ü.txt": "x" });
    await commitTo(repo, ada, { "a.txt": "ours" });
    const objects = async () => (await runGit(await openRepository(repo), ["count-objects", "-v"])).toString("utf8");
    const [base, before, counted] = [await headOf(repo), await typesOf(repo), await objects()];
    const state = await readPullRequestState(repo, row);
    expect(state).toMatchObject({ merge: "conflicts", filesWithConflicts: ["a.txt"], ahead: 1, behind: 1, baseSha: base });
    expect(await objects()).toBe(counted);
    await expect(mergePullRequest(ada.actor, at)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("a.txt"),
    });
    expect([await headOf(repo), await typesOf(repo), await status()]).toEqual([base, before, "open"]);
  });

  test("combines the changes of both sides", async () => {
    const { ada, repo, at, row } = await proposed();
    await commitTo(repo, ada, { "c.txt": "c" });
    expect(await readPullRequestState(repo, row)).toMatchObject({ merge: "clean", ahead: 1, behind: 1 });
    const merged = await mergePullRequest(ada.actor, at);
    const files = await runGit(await openRepository(repo), ["ls-tree", "--name-only", "--end-of-options", merged]);
    expect(files.toString("utf8")).toBe("a.txt\nb.txt\nc.txt\n");
  });

  test("succeeds once when several run at the same time", async () => {
    const { ada, repo, at } = await proposed();
    const merges = [1, 2, 3, 4].map(() => mergePullRequest(ada.actor, at));
    const ended = outcomes(merges);
    await commitTo(repo, ada, { "d.txt": "d" }).catch(() => undefined);
    expect(await ended).toEqual(["conflict", "conflict", "conflict", "ok"]);
    const types = await typesOf(repo);
    expect(types.filter((type) => type === "discussion update")).toHaveLength(1);
    await fsck(repo);
  });

  test("refuses commits that the user has not seen, drafts and closed pull requests", async () => {
    const { ada, repo, at, head, row } = await proposed();
    const next = await branchWith(repo, ada, "next", { "n.txt": "n" }, { from: "more" });
    await setRef(repo, ada, "refs/pr/1", next);
    await expect(mergePullRequest(ada.actor, at, { headSha: head })).rejects.toMatchObject({ code: "conflict" });
    await changeStatus(ada.actor, at, { status: "closed" });
    await expect(mergePullRequest(ada.actor, at)).rejects.toMatchObject({ message: expect.stringContaining("closed") });
    const draft = await openPullRequest(ada.actor, repo, { title: "Draft" });
    await expect(mergePullRequest(ada.actor, nameOf(repo, draft.row.num))).rejects.toMatchObject({
      message: expect.stringContaining("draft"),
    });
    const lonely = await commitTo(repo, ada, { "z.txt": "z" }, { branch: "lonely" });
    const unrelated = await openPullRequest(ada.actor, repo, { title: "Unrelated", head: { sha: lonely } });
    expect(await readPullRequestState(repo, unrelated.row)).toMatchObject({ merge: "unrelated" });
    await expect(mergePullRequest(ada.actor, nameOf(repo, unrelated.row.num))).rejects.toMatchObject({ code: "conflict" });
    expect((await readTimeline(ada.actor, row)).items.filter(({ type }) => type === "commit")).toHaveLength(2);
  });

  test("S135 requires the right to write", async () => {
    const { ada, bea, repo, at } = await proposed();
    await expect(mergePullRequest(bea.actor, at)).rejects.toMatchObject({ code: "forbidden" });
    await db().repo.update({ where: { id: repo.id }, data: { isReadOnly: true } });
    await expect(mergePullRequest(ada.actor, at)).rejects.toMatchObject({ code: "forbidden" });
  });

  test("gives an empty repository its first commit", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const identity = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "a@example.test" };
    const env = { ...identity, GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "a@example.test" };
    const path = await openRepository(repo);
    const tree = (await runGit(path, ["hash-object", "-w", "-t", "tree", "--stdin"], { input: "" })).toString("latin1").trim();
    const sha = (await runGit(path, ["commit-tree", "-m", "First", tree], { env })).toString("latin1").trim();
    const { row } = await openPullRequest(ada.actor, repo, { title: "First", head: { sha } });
    expect(await readPullRequestState(repo, row)).toMatchObject({ merge: "clean", baseSha: null });
    expect(await mergePullRequest(ada.actor, nameOf(repo, row.num))).toBe(sha);
    expect(await headOf(repo)).toBe(sha);
  });
});

describe("the effects of a push on pull requests:", () => {
  test("a pull request is merged when its commits reach its base", async () => {
    const { ada, repo, head, status } = await proposed();
    const draft = await openPullRequest(ada.actor, repo, { title: "Empty" });
    await setRef(repo, ada, "refs/heads/main", head);
    expect(await status()).toBe("merged");
    const { discussion } = await findDiscussion(ada.actor, nameOf(repo, draft.row.num));
    expect(discussion.status).toBe("draft");
  });

  test("S137 a full pull request can still get commits and be merged", async () => {
    const { ada, repo, base, at, row, status } = await proposed();
    await db().$executeRaw`INSERT INTO discussion_event (id, discussion_id, type, content, created_at)
      SELECT left(md5(random()::text), 24), ${row.id}, 'comment', 'x', now() - make_interval(secs => n) FROM generate_series(1, 9998) n`;
    const commits = () => db().discussionEvent.count({ where: { discussionId: row.id, type: "commit" } });
    const second = await commitTo(repo, ada, { "c.txt": "c" }, { branch: "more" });
    const third = await commitTo(repo, ada, { "d.txt": "d" }, { branch: "more" });
    await setRef(repo, ada, "refs/pr/1", third);
    expect(await commits()).toBe(2);
    expect((await readTimeline(ada.actor, row, { page: 100 })).items.at(-1)).toMatchObject({ type: "commit", oid: third });
    await setRef(repo, ada, "refs/pr/1", second);
    expect(await commits()).toBe(2);
    await expect(mergePullRequest(ada.actor, at, { comment: "Thanks" })).rejects.toMatchObject({ code: "conflict" });
    expect([await headOf(repo), await status()]).toEqual([base, "open"]);
    await mergePullRequest(ada.actor, at);
    expect(await status()).toBe("merged");
  });

  test("a pull request whose ref or base is deleted is closed", async () => {
    const { ada, repo, head, at, status } = await proposed();
    await setRef(repo, ada, "refs/pr/1", null);
    expect(await status()).toBe("closed");
    await expect(changeStatus(ada.actor, at, { status: "open" })).rejects.toMatchObject({ code: "conflict" });
    await setRef(repo, ada, "refs/pr/1", head);
    await changeStatus(ada.actor, at, { status: "open" });
    const onto = await openPullRequest(ada.actor, repo, { title: "Onto", base: "more" });
    await setRef(repo, ada, "refs/heads/more", null);
    const { discussion } = await findDiscussion(ada.actor, nameOf(repo, onto.row.num));
    expect([discussion.status, await status()]).toEqual(["closed", "open"]);
    await expect(changeStatus(ada.actor, nameOf(repo, onto.row.num), { status: "open" })).rejects.toMatchObject({
      code: "conflict",
    });
  });

  test("the commits of a closed pull request can be deleted", async () => {
    const { ada, bea, repo, at } = await proposed();
    await expect(deletePullRequestRef(bea.actor, at)).rejects.toMatchObject({ code: "conflict" });
    await changeStatus(bea.actor, at, { status: "closed" });
    await deletePullRequestRef(bea.actor, at);
    expect(await headOf(repo, "refs/pr/1")).toBeNull();
    await expect(deletePullRequestRef(bea.actor, at)).rejects.toMatchObject({ code: "conflict" });
    const other = await openPullRequest(bea.actor, repo, { title: "Other" });
    await deleteDiscussion(ada.actor, nameOf(repo, other.row.num), from);
    expect(await headOf(repo, "refs/pr/2")).toBeNull();
    await fsck(repo);
  });
});

test("S137 only the author and users who may write can push to a pull request", async () => {
  const { ada, bea, repo, at } = await proposed();
  const cy = await signedInPerson("cy");
  const may = async (person: typeof ada, num = 1) => (await pullRequestPushRefusal(person.actor, repo, num)) === null;
  expect([await may(ada), await may(bea), await may(cy), await may(ada, 2)]).toEqual([true, true, false, false]);
  expect(await pullRequestPushRefusal(cy.actor, repo, 1)).toMatch(/cannot push/);
  await mergePullRequest(ada.actor, at);
  expect([await may(ada), await may(bea)]).toEqual([false, false]);
});

test("S135 an app with the scope for discussions can push only to its user's pull requests", async () => {
  const { ada, bea, repo, head } = await proposed();
  const commit = async (person: typeof ada, ...scopes: Scope[]) => {
    const files = [{ type: "file", path: `${person.username}.txt`, content: Buffer.from(scopes.join()) } as const];
    const actor = await appToken(person.id, { scopes });
    return createCommit(actor, nameOf(repo, 1).repo, { revision: "refs/pr/1", summary: "Change it", operations: files });
  };
  await expect(commit(ada, "write-discussions")).rejects.toMatchObject({ code: "forbidden" });
  expect(await headOf(repo, "refs/pr/1")).toBe(head);
  await commit(bea, "write-discussions");
  await commit(ada, "write-repos");
});

test("only maintainers can push to a locked pull request, which shows the subjects of commits", async () => {
  const { ada, bea, repo, at } = await proposed();
  await setLocked(ada.actor, at, true, from);
  expect(await pullRequestPushRefusal(bea.actor, repo, 1)).toMatch(/locked/);
  expect(await pullRequestPushRefusal(ada.actor, repo, 1)).toBeNull();
});

test("in an organization, a reader proposes and a writer merges", async () => {
  const [ada, bea, cy] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
  const organization = await organizationOf(ada, [
    [bea, "read"],
    [cy, "write"],
  ]);
  const repo = await createRepo(ada.actor, { type: "space", owner: organization.name, name: "quay", isPrivate: true }, from);
  await commitTo(repo, ada, { "a.txt": "a" });
  const sha = await branchWith(repo, ada, "x", { "x.txt": "x" });
  const { row } = await openPullRequest(bea.actor, repo, { title: "X", head: { sha } });
  const at = nameOf(repo, row.num);
  expect(await pullRequestPushRefusal(bea.actor, repo, row.num)).toBeNull();
  await expect(mergePullRequest(bea.actor, at)).rejects.toMatchObject({ code: "forbidden" });
  await expect(mergePullRequest(cy.actor, at)).resolves.toMatch(/^[0-9a-f]{40}$/);
});

async function whileRefIsRead<T>(work: () => Promise<T>, meanwhile: () => Promise<unknown>): Promise<T> {
  let changing: Promise<unknown> | undefined;
  const stopWatching = watchProcesses((child) => {
    const emit = child.emit.bind(child);
    child.emit = (event: string, ...args: unknown[]) => {
      if ((event !== "exit" && event !== "close") || !child.spawnargs.includes("show-ref")) return emit(event, ...args);
      changing ??= meanwhile();
      void changing.then(() => emit(event, ...args));
      return true;
    };
  });
  return work().finally(stopWatching);
}

test("S135 a member who is removed during a merge or a deletion changes nothing", async () => {
  const [ada, cy] = [await signedInPerson(), await signedInPerson("cy")];
  const { id, name } = await organizationOf(ada, [[cy, "write"]]);
  const repo = await createRepo(ada.actor, { type: "model", owner: name, name: "quay" }, from);
  const base = await commitTo(repo, ada, { "a.txt": "a" });
  const sha = await branchWith(repo, ada, "x", { "x.txt": "x" });
  const at = nameOf(repo, (await openPullRequest(ada.actor, repo, { title: "X", head: { sha } })).row.num);
  const remove = () => db().membership.deleteMany({ where: { orgId: id, userId: cy.id } });
  const restore = () => db().membership.create({ data: { orgId: id, userId: cy.id, role: "write" } });
  const refs = async () => [await headOf(repo), await headOf(repo, "refs/pr/1")];
  const refused = { code: "forbidden" };
  await expect(whileRefIsRead(() => mergePullRequest(cy.actor, at), remove)).rejects.toMatchObject(refused);
  // S114: the token has ended.
  const over = () => Promise.reject(new ServiceError("unauthorized", "The token has ended."));
  await expect(mergePullRequest(ada.actor, at, {}, over)).rejects.toMatchObject({ code: "unauthorized" });
  await changeStatus(ada.actor, at, { status: "closed" });
  for (const take of [() => deletePullRequestRef(ada.actor, at, over), () => deleteDiscussion(ada.actor, at, from, over)])
    await expect(take()).rejects.toMatchObject({ code: "unauthorized" });
  for (const take of [() => deletePullRequestRef(cy.actor, at), () => deleteDiscussion(cy.actor, at, from)]) {
    await restore();
    await expect(whileRefIsRead(take, remove)).rejects.toMatchObject(refused);
    expect(await refs()).toEqual([base, sha]);
  }
});

test.each([
  ["git version 2.39.5", true],
  ["git version 2.38.0 (Apple Git-1)", true],
  ["git version 2.30.2", false],
  ["git version 3.0.0", true],
  ["", false],
])("%j can merge without a work tree: %s", (version, can) => {
  expect(isNewEnough(version)).toBe(can);
});
