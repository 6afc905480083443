import { describe, expect, test } from "vitest";
import type { Actor } from "../../access/actor.ts";
import { from, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { appToken } from "../../accounts/testing/tokens.ts";
import { throttleCount, throttleKey } from "../../accounts/throttle.ts";
import { db, pool } from "../../db.ts";
import { provideSettings } from "../../env.ts";
import { newId } from "../../ids.ts";
import { fanOutAll, watchingWebhook } from "../../webhooks/testing/fan-out.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { resolveRef, updateRefs } from "../git/refs/git-refs.ts";
import { openRepository } from "../git/repository.ts";
import { findRepo } from "../repos/find-repo.ts";
import { updateRepoSettings } from "../repos/update-repo-settings.ts";
import { branchWith, nameOf, setRef } from "../testing/discussions.ts";
import { commitTo, someRepo } from "../testing/repos.ts";
import { addComment, deleteComment, editComment } from "./comments.ts";
import { requireShowable } from "./follow-ref-changes.ts";
import { openDiscussion } from "./open-discussion.ts";
import { openPullRequest } from "./open-pull-request.ts";
import { changeStatus, changeTitle, setLocked, setPinned } from "./properties.ts";
import { readTimeline } from "./read-timeline.ts";

async function opened() {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  const { row } = await openDiscussion(bea.actor, repo, { title: "Where is the sea?", description: "I *ask*." });
  return { ada, bea, repo, at: nameOf(repo, row.num) };
}

describe("S127 events of a stranger trigger other users' webhooks", () => {
  test("are limited to a part of the daily limit", async () => {
    provideSettings({ WEBHOOK_TRIGGERS_PER_DAY: "20" });
    const { ada, bea, repo, at } = await opened();
    const webhookId = await watchingWebhook({ kind: "user", id: ada.id }, [repo.id], { domains: ["repo", "discussion"] });
    for (let round = 0; round < 6; round++) {
      await changeStatus(bea.actor, at, { status: round % 2 ? "open" : "closed" });
      await changeTitle(bea.actor, at, { title: `Sea ${round}` });
      await addComment(bea.actor, at, { comment: "Well?" });
    }
    await addComment(ada.actor, at, { comment: "Enough." });
    await updateRepoSettings(
      ada.actor,
      { type: repo.type, owner: repo.owner.handle, name: repo.name },
      { isReadOnly: true },
      from,
    );
    await fanOutAll();
    const { rows } = await pool().query<{ own: boolean; sent: number }>(
      "select e.actor_id = $2 as own, count(*)::int as sent from delivery d join event e on e.id = d.event_id where webhook_id = $1 and state = 'waiting' group by 1 order by 1",
      [webhookId, ada.id],
    );
    expect(rows).toEqual([
      { own: false, sent: 5 },
      { own: true, sent: expect.toSatisfy((sent) => sent >= 2) },
    ]);
  });
});

test.each<[string, (bea: TestPerson, at: ReturnType<typeof nameOf>) => Promise<unknown>]>([
  ["closing", (bea, at) => changeStatus(bea.actor, at, { status: "closed" })],
  ["renaming", (bea, at) => changeTitle(bea.actor, at, { title: "Another" })],
])("S127 %s counts as a contribution", async (_, change) => {
  const { bea, at } = await opened();
  const key = throttleKey("discussion-comment", bea.id);
  await pool().query("insert into throttle (key, count, reset_at) values ($1, 1000, now() + interval '1 hour')", [key]);
  await expect(change(bea, at)).rejects.toMatchObject({ code: "rate_limited" });
});

test("S127 pinning and locking count as contributions, even by moderators", async () => {
  const { ada, at } = await opened();
  const key = throttleKey("discussion-comment", ada.id);
  await pool().query("insert into throttle (key, count, reset_at) values ($1, 1000, now() + interval '1 hour')", [key]);
  await expect(setPinned(ada.actor, at, true)).rejects.toMatchObject({ code: "rate_limited" });
  await expect(setLocked(ada.actor, at, true, from)).rejects.toMatchObject({ code: "rate_limited" });
});

test.each<[string, (bea: TestPerson, at: ReturnType<typeof nameOf>, text: string) => Promise<unknown>]>([
  [
    "a new discussion",
    async (bea, { repo }, description) =>
      openDiscussion(bea.actor, await findRepo(bea.actor, repo, "repo.read"), { title: "More", description }),
  ],
  ["a comment", (bea, at, comment) => addComment(bea.actor, at, { comment })],
  [
    "an edit",
    async (bea, at, content) => {
      const { id } = await db().discussionEvent.findFirstOrThrow({ where: { authorId: bea.id } });
      return editComment(bea.actor, at, id, { content });
    },
  ],
  ["a comment that closes the discussion", (bea, at, comment) => changeStatus(bea.actor, at, { status: "closed", comment })],
])("S137 the text of %s counts toward the user's daily limit", async (_, write) => {
  const { bea, at } = await opened();
  const key = throttleKey("discussion-text", bea.id);
  const most = 16 * 1024 * 1024;
  expect(await throttleCount(key)).toBe("I *ask*.".length);
  await pool().query("update throttle set count = $2 where key = $1", [key, most - 5]);
  await write(bea, at, "é é");
  expect(await throttleCount(key)).toBe(most);
  await expect(write(bea, at, "More")).rejects.toMatchObject({ code: "rate_limited", status: 429 });
});

test("S137 a user who has changed discussions 5,000 times in 24 hours can only delete, unlike the user's apps", async () => {
  const { bea, at } = await opened();
  const comment = await addComment(bea.actor, at, { comment: "one" });
  const key = throttleKey("discussion-day", bea.id);
  expect(await throttleCount(key)).toBe(2);
  await pool().query("update throttle set count = 5000 where key = $1", [key]);
  await expect(addComment(bea.actor, at, { comment: "two" })).rejects.toMatchObject({ code: "rate_limited" });
  await addComment(await appToken(bea.id, { scopes: ["write-discussions"] }), at, { comment: "two" });
  await deleteComment(bea.actor, at, comment.id, from);
});

test("S137 a push to a pull request is refused once the user has shown too many commits", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
  const first = await branchWith(repo, ada, "one", { "b.txt": "b" });
  await commitTo(repo, ada, { "b.txt": "c" }, { branch: "one" });
  const third = await commitTo(repo, ada, { "b.txt": "d" }, { branch: "one" });
  const { row } = await openPullRequest(bea.actor, repo, { title: "More", head: { sha: first } });
  const shown = async () => (await readTimeline(bea.actor, row)).items.length;
  expect(await shown()).toBe(1);
  const key = throttleKey("commits-shown", bea.id);
  expect(await throttleCount(key)).toBe(1);
  await pool().query("update throttle set count = 19999 where key = $1", [key]);
  await setRef(repo, bea, "refs/pr/1", third);
  expect(await shown()).toBe(3);
  await expect(setRef(repo, bea, "refs/pr/1", first)).rejects.toMatchObject({ code: "rate_limited" });
  expect(await resolveRef(await openRepository(repo), "refs/pr/1")).toBe(third);
});

test("S137 a change of a pull request leaves a trace, even if another change reaches the limit at the same moment", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
  const first = await branchWith(repo, ada, "one", { "b.txt": "b" });
  await commitTo(repo, ada, { "b.txt": "c" }, { branch: "one" });
  const third = await commitTo(repo, ada, { "b.txt": "d" }, { branch: "one" });
  const { row } = await openPullRequest(bea.actor, repo, { title: "More", head: { sha: first } });
  const path = await openRepository(repo);
  const change = { ref: "refs/pr/1", oldSha: first, newSha: third };
  await changeRefs(repo, bea.actor, [change], async () => {
    await pool().query("update throttle set count = 20001 where key = $1", [throttleKey("commits-shown", bea.id)]);
    return updateRefs(path, [change]);
  });
  const { items } = await readTimeline(bea.actor, row);
  expect(JSON.stringify(items.at(-1))).toContain(third);
});

test("S137 checking the limit of shown commits does not wait for transactions that count commits", async () => {
  const [party, reset] = [newId(), new Date(Date.now() + 60_000)];
  const key = throttleKey("commits-shown", party);
  await db().throttle.create({ data: { key, count: 1, resetAt: reset } });
  const client = await pool().connect();
  try {
    await client.query("begin");
    await client.query("update throttle set count = 2 where key = $1", [key]);
    await requireShowable([{ ref: "refs/pr/1", oldSha: "0".repeat(40), newSha: "1".repeat(40) }], party);
  } finally {
    client.release(true);
  }
});

test("S137 commits that an app or a job shows count for this app or job", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  const first = await commitTo(repo, ada, { "a.txt": "a" });
  const second = await branchWith(repo, ada, "one", { "b.txt": "b" });
  await openPullRequest(bea.actor, repo, { title: "More", head: { sha: first } });
  const path = await openRepository(repo);
  const show = (actor: Actor, oldSha: string, newSha: string) => {
    const change = { ref: "refs/pr/1", oldSha, newSha };
    return changeRefs(repo, actor, [change], () => updateRefs(path, [change]));
  };
  const app = await appToken(bea.id, { scopes: ["write-repos"] });
  const jobOf = (trustedById: string): Actor => ({
    kind: "publisher",
    publisherId: newId(),
    trustedById,
    repoId: repo.id,
    description: "a job",
  });
  for (const [actor, party] of [
    [app, `apps of ${bea.id}`],
    [jobOf(ada.id), `jobs of ${ada.id}`],
  ] as const) {
    const key = throttleKey("commits-shown", party);
    await show(actor, first, second);
    expect(await throttleCount(key)).toBe(1);
    await pool().query("update throttle set count = 20000 where key = $1", [key]);
    await expect(show(actor, second, first)).rejects.toMatchObject({ code: "rate_limited" });
    await show(bea.actor, second, first);
  }
  await show(jobOf(bea.id), first, second);
});
