import { eventPayloadSchema } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { anonymous } from "../../access/actor.ts";
import { removeMember } from "../../accounts/organizations/members.ts";
import { auditTrail, from, organizationOf, outcomes, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { newOrderedId } from "../../ids.ts";
import { deadlock, queueForLock } from "../../testing/as-owner.ts";
import { createRepo } from "../repos/create-repo.ts";
import type { Repo } from "../repos/repo.ts";
import { updateRepoSettings } from "../repos/update-repo-settings.ts";
import { nameOf } from "../testing/discussions.ts";
import { eventsOf, someRepo } from "../testing/repos.ts";
import { addComment, deleteComment, editComment, hideComment, reactToComment } from "./comments.ts";
import { deleteDiscussion } from "./delete-discussion.ts";
import { findDiscussion, listDiscussions, SEARCHED_MAX } from "./find-discussion.ts";
import { openDiscussion } from "./open-discussion.ts";
import { openPullRequest } from "./open-pull-request.ts";
import { changeStatus, changeTitle, setLocked, setPinned } from "./properties.ts";
import { readTimeline } from "./read-timeline.ts";

async function opened(input: { title?: string; description?: string } = {}) {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  const { row } = await openDiscussion(bea.actor, repo, { title: "Where is the sea?", description: "I *ask*.", ...input });
  return { ada, bea, repo, id: row.id, at: nameOf(repo, row.num) };
}

const typesOf = async (repo: Repo) => (await eventsOf(repo)).map(({ scope, action }) => `${scope} ${action}`);
const timelineOf = async (person: TestPerson, id: string) => (await readTimeline(person.actor, { id })).items;

test("a user who can no longer see the repository cannot open a discussion", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  const { type, owner, name } = repo;
  const [hidden, ...openings] = await queueForLock<unknown>(`SELECT FROM repo WHERE id = '${repo.id}' FOR UPDATE`, [
    () => updateRepoSettings(ada.actor, { type, owner: owner.handle, name }, { isPrivate: true }, from),
    () => openDiscussion(bea.actor, repo, { title: "What is in here now?" }),
    () => openPullRequest(bea.actor, repo, { title: "A draft" }),
  ]);
  await hidden;
  expect(await outcomes(openings)).toEqual(["not_found", "not_found"]);
});

test("a discussion whose opening deadlocks with other changes of the repository is opened once", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  const open = () => openDiscussion(bea.actor, repo, { title: "Where is the sea?" });
  const last = `select from repo where id = '${repo.id}' for update`;
  expect((await deadlock("lock discussion in share mode", open, last)).row.num).toBe(1);
});

describe("a discussion", () => {
  test("S137 has fewer events on a page if comments are long", async () => {
    const { bea, id } = await opened();
    const createdAt = (each: number) => new Date(Date.now() + 1_000 * each);
    const long = Array.from({ length: 10 }, (_, each) => ({
      id: newOrderedId(),
      content: "x".repeat(64 * 1024),
      createdAt: createdAt(each),
    }));
    await db().discussionEvent.createMany({
      data: long.map((one) => ({ ...one, discussionId: id, type: "comment", authorId: bea.id })),
    });
    const pages = [];
    for (let page = 1, pageCount = 1; page <= pageCount; page++) {
      const { items, total, pageSize } = await readTimeline(bea.actor, { id }, { page });
      pageCount = Math.ceil(total / pageSize);
      pages.push(items.map((item) => item.id));
    }
    expect(Math.max(...pages.map((ids) => ids.length))).toBeLessThanOrEqual(5);
    expect(pages.flat().slice(1)).toEqual(long.map((one) => one.id));
    expect((await readTimeline(bea.actor, { id }, { page: pages.length + 1 })).items).toEqual([]);
  });

  test("S137 with 10,000 events accepts no comments, and can still be closed", async () => {
    const { ada, bea, id, at } = await opened();
    await setPinned(ada.actor, at, true);
    await db().$executeRaw`INSERT INTO discussion_event (id, discussion_id, type, content, created_at)
      SELECT left(md5(random()::text), 24), ${id}, 'comment', 'x', now() - make_interval(secs => n) FROM generate_series(1, 9997) n`;
    const last = await addComment(bea.actor, at, { comment: "The last one" });
    const full = { code: "conflict", message: expect.stringContaining("10,000") };
    await expect(addComment(ada.actor, at, { comment: "One more" })).rejects.toMatchObject(full);
    await expect(changeTitle(bea.actor, at, { title: "Another" })).rejects.toMatchObject(full);
    await expect(changeStatus(bea.actor, at, { status: "closed", comment: "One more" })).rejects.toMatchObject(full);
    await changeStatus(bea.actor, at, { status: "closed" });
    await setLocked(ada.actor, at, true, from);
    await setPinned(ada.actor, at, false);
    await expect(changeStatus(ada.actor, at, { status: "open" })).rejects.toMatchObject(full);
    await expect(setLocked(ada.actor, at, false, from)).rejects.toMatchObject(full);
    await expect(setPinned(ada.actor, at, true)).rejects.toMatchObject(full);
    expect(await db().discussionEvent.count({ where: { discussionId: id } })).toBe(10_003);
    await db().discussionEvent.deleteMany({ where: { discussionId: id, content: "x" } });
    await deleteComment(ada.actor, at, last.id, from);
    await setLocked(ada.actor, at, false, from);
  });

  test("records each change as one event that fits the schema", async () => {
    const { ada, bea, repo, id, at } = await opened();
    const comment = await addComment(ada.actor, at, { comment: "South\r\nof here.\n" });
    expect(comment).toMatchObject({ content: "South\nof here.", author: { name: ada.username }, isHidden: false });
    await editComment(ada.actor, at, comment.id, { content: "North." });
    await changeTitle(bea.actor, at, { title: "Where is the shore?" });
    await setPinned(ada.actor, at, true);
    await changeStatus(bea.actor, at, { status: "closed", comment: "Thanks." });
    await changeStatus(ada.actor, at, { status: "open" });
    await hideComment(ada.actor, at, comment.id, from);
    expect((await timelineOf(bea, id)).map(({ type }) => type)).toEqual([
      "comment",
      "comment",
      "title-change",
      "pinning-change",
      "comment",
      "status-change",
      "status-change",
    ]);
    expect(await typesOf(repo)).toEqual([
      "repo create",
      "discussion create",
      "discussion.comment create",
      "discussion.comment update",
      "discussion update",
      "discussion update",
      "discussion.comment create",
      "discussion update",
      "discussion update",
      "discussion.comment update",
    ]);
    const payloads = (await eventsOf(repo)).map(({ payload }) => eventPayloadSchema.parse(payload));
    expect(payloads[1]).toMatchObject({
      repo: { id: repo.id, name: repo.fullName },
      discussion: {
        num: 1,
        title: "Where is the sea?",
        status: "open",
        isPullRequest: false,
        author: { id: bea.id },
        pinned: false,
      },
      comment: { content: "I *ask*.", hidden: false, author: { id: bea.id } },
    });
    expect(payloads[1]?.repo).not.toHaveProperty("headSha");
    expect(payloads[3]).toMatchObject({ comment: { id: comment.id, content: "North." }, discussion: { num: 1 } });
    expect(payloads[5]).toMatchObject({ discussion: { pinned: true, title: "Where is the shore?" } });
    expect(payloads[9]).toMatchObject({ comment: { id: comment.id, hidden: true } });
    expect(payloads[9] && "comment" in payloads[9] && payloads[9].comment).not.toHaveProperty("content");
  });

  test("gets no event from a request that changes nothing", async () => {
    const { ada, bea, repo, at } = await opened();
    const before = (await eventsOf(repo)).length;
    await setPinned(ada.actor, at, false);
    await setLocked(ada.actor, at, false, from);
    expect(
      await outcomes([
        changeStatus(bea.actor, at, { status: "open" }),
        changeTitle(bea.actor, at, { title: "Where is the sea?" }),
      ]),
    ).toEqual(["conflict", "conflict"]);
    expect((await eventsOf(repo)).length).toBe(before);
  });

  test("shows a hidden comment's text to nobody", async () => {
    const { ada, bea, repo, id, at } = await opened();
    const [first] = await timelineOf(bea, id);
    const commentId = first?.id ?? "";
    await reactToComment(ada.actor, at, commentId, { reaction: "👍", isOn: true });
    await hideComment(bea.actor, at, commentId, from);
    const before = (await eventsOf(repo)).length;
    await hideComment(ada.actor, at, commentId, from);
    expect((await eventsOf(repo)).length).toBe(before);
    expect((await timelineOf(ada, id))[0]).toMatchObject({ isHidden: true, content: "", reactions: [] });
    expect(
      await outcomes([
        editComment(bea.actor, at, commentId, { content: "Again" }),
        reactToComment(ada.actor, at, commentId, { reaction: "👍", isOn: true }),
      ]),
    ).toEqual(["conflict", "conflict"]);
  });

  test("counts one reaction of a kind for each user", async () => {
    const { ada, bea, id, at } = await opened();
    const commentId = (await timelineOf(bea, id))[0]?.id ?? "";
    const react = (person: TestPerson, reaction: string, isOn = true) =>
      reactToComment(person.actor, at, commentId, { reaction, isOn });
    await Promise.all([react(ada, "❤"), react(ada, "❤️"), react(bea, "❤️"), react(bea, "🚀")]);
    expect((await react(ada, "🚀", false)).reactions).toEqual(
      expect.arrayContaining([
        { reaction: "❤️", count: 2, isOwn: true },
        { reaction: "🚀", count: 1, isOwn: false },
      ]),
    );
    expect((await react(bea, "🚀", false)).reactions).toEqual([{ reaction: "❤️", count: 2, isOwn: true }]);
    await expect(react(ada, "🐍")).rejects.toMatchObject({ code: "invalid_request", field: "reaction" });
  });

  test("stays when the accounts of its authors are deleted", async () => {
    const { ada, bea, repo, id, at } = await opened();
    await db().user.delete({ where: { id: bea.id } });
    const { discussion } = await findDiscussion(ada.actor, at);
    expect(discussion.author).toMatchObject({ name: "ghost", isGhost: true });
    expect((await timelineOf(ada, id))[0]?.author.name).toBe("ghost");
    await db().discussion.updateMany({ where: { id }, data: { authorId: null } });
    await changeStatus(ada.actor, at, { status: "closed" });
    for (const { payload } of await eventsOf(repo)) eventPayloadSchema.parse(payload);
  });

  test("refuses empty and overlong texts", async () => {
    const { bea, repo, at } = await opened();
    const odd = ["a\0b", "\ud800", "x".repeat(1024 * 1024), "\u{fffd}", 7, null];
    for (const title of [...odd, "", " \n ", "\u{200b}", "x".repeat(201)]) {
      await expect(openDiscussion(bea.actor, repo, { title })).rejects.toMatchObject({ code: "invalid_request", field: "title" });
    }
    for (const comment of [...odd, "", " \n "]) {
      await expect(addComment(bea.actor, at, { comment })).rejects.toMatchObject({ code: "invalid_request", field: "comment" });
    }
    await expect(addComment(bea.actor, at, { comment: "ü".repeat(32 * 1024 + 1) })).rejects.toMatchObject({ field: "comment" });
    await expect(addComment(bea.actor, at, { comment: "ü".repeat(32 * 1024) })).resolves.toBeDefined();
    expect(
      await outcomes([
        changeStatus(bea.actor, at, { status: "merged" }),
        editComment(bea.actor, at, "x", { content: "y" }),
        ...[0, -1, 1.5, Number.NaN, 2 ** 40, 999].map((num) => addComment(bea.actor, { ...at, num }, { comment: "y" })),
      ]),
    ).toEqual(["invalid_request", ...Array(7).fill("not_found")]);
  });
});

describe("a deleted comment", () => {
  test("leaves an event without its text", async () => {
    const { ada, bea, id, at, repo } = await opened();
    const cy = await signedInPerson("cy");
    const own = await addComment(cy.actor, at, { comment: "What I should not have said." });
    const [beas] = await timelineOf(bea, id);
    await expect(deleteComment(cy.actor, at, beas?.id ?? "", from)).rejects.toMatchObject({ code: "forbidden" });
    expect(await outcomes([1, 2, 3].map(() => deleteComment(cy.actor, at, own.id, from)))).toEqual([
      "not_found",
      "not_found",
      "ok",
    ]);
    expect((await timelineOf(bea, id)).map((one) => one.id)).toEqual([beas?.id]);
    expect(await db().discussion.findUnique({ where: { id } })).toMatchObject({ commentCount: 1 });
    const last = (await eventsOf(repo)).at(-1);
    expect(last).toMatchObject({ scope: "discussion.comment", action: "delete" });
    expect(eventPayloadSchema.parse(last?.payload)).toMatchObject({
      comment: { id: own.id, hidden: false, author: { id: cy.id } },
    });
    expect(JSON.stringify(last)).not.toContain("should not have said");
    await deleteComment(ada.actor, at, beas?.id ?? "", from);
    expect(await timelineOf(bea, id)).toEqual([]);
    expect((await auditTrail({ subjectId: bea.id })).at(-1)).toBe("discussion.delete_comment");
  });
});

describe("S135 rights in discussions:", () => {
  test("in a public repository, a stranger can change only their own discussions and comments", async () => {
    const { ada, bea, id, at } = await opened();
    const cy = await signedInPerson("cy");
    const own = await addComment(cy.actor, at, { comment: "Hm." });
    const [beas] = await timelineOf(bea, id);
    await editComment(cy.actor, at, own.id, { content: "Hm!" });
    await hideComment(cy.actor, at, own.id, from);
    const refused = [
      changeStatus(cy.actor, at, { status: "closed" }),
      changeTitle(cy.actor, at, { title: "Mine" }),
      editComment(cy.actor, at, beas?.id ?? "", { content: "Mine" }),
      hideComment(cy.actor, at, beas?.id ?? "", from),
      setPinned(cy.actor, at, true),
      setLocked(bea.actor, at, true, from),
      deleteDiscussion(bea.actor, at, from),
      editComment(ada.actor, at, beas?.id ?? "", { content: "Mine" }),
    ];
    expect(await outcomes(refused)).toEqual(Array(refused.length).fill("forbidden"));
    await expect(addComment(anonymous, at, { comment: "Hm." })).rejects.toMatchObject({ code: "unauthorized" });
    await expect(changeStatus(bea.actor, at, { status: "closed" })).resolves.toMatchObject({ status: "closed" });
  });

  test("in an organization, a member with the role write may do everything", async () => {
    const [ada, bea, cy, dan] = [
      await signedInPerson(),
      await signedInPerson("bea"),
      await signedInPerson("cy"),
      await signedInPerson("dan"),
    ];
    const organization = await organizationOf(ada, [
      [bea, "write"],
      [cy, "read"],
    ]);
    const repo = await createRepo(ada.actor, { type: "dataset", owner: organization.name, name: "tides", isPrivate: true }, from);
    const { row } = await openDiscussion(cy.actor, repo, { title: "Why?", description: "Because." });
    const at = nameOf(repo, row.num);
    const commentId = (await timelineOf(cy, row.id))[0]?.id ?? "";
    const closed = changeStatus(bea.actor, at, { status: "closed" });
    await expect(closed).resolves.toMatchObject({ status: "closed" });
    await setPinned(bea.actor, at, true);
    await hideComment(bea.actor, at, commentId, from);
    await setLocked(bea.actor, at, true, from);
    const unseen = [
      findDiscussion(dan.actor, at),
      addComment(dan.actor, at, { comment: "x" }),
      changeStatus(dan.actor, at, { status: "open" }),
      hideComment(dan.actor, at, commentId, from),
      deleteDiscussion(dan.actor, at, from),
      listDiscussions(dan.actor, at.repo, {}),
      findDiscussion(anonymous, at),
      openDiscussion(dan.actor, repo, { title: "x" }),
    ];
    expect(await outcomes(unseen)).toEqual(Array(unseen.length).fill("not_found"));
    // The author's security log must not name a repository that the author can no longer see (S136).
    await removeMember(ada.actor, organization.id, cy.id, from);
    await deleteDiscussion(bea.actor, at, from);
    expect((await auditTrail({ orgId: organization.id })).filter((type) => type.startsWith("discussion."))).toEqual([
      "discussion.hide_comment",
      "discussion.lock",
      "discussion.delete",
    ]);
    expect((await auditTrail({ subjectId: cy.id })).filter((type) => type.startsWith("discussion."))).toEqual([
      "discussion.hide_comment",
    ]);
  });

  test("only moderators can write to a locked discussion", async () => {
    const { ada, bea, id, at } = await opened();
    const commentId = (await timelineOf(bea, id))[0]?.id ?? "";
    await setLocked(ada.actor, at, true, from);
    const refused = [
      addComment(bea.actor, at, { comment: "x" }),
      editComment(bea.actor, at, commentId, { content: "x" }),
      reactToComment(bea.actor, at, commentId, { reaction: "👍", isOn: true }),
      changeTitle(bea.actor, at, { title: "x" }),
      changeStatus(bea.actor, at, { status: "closed" }),
    ];
    expect(await outcomes(refused)).toEqual(Array(refused.length).fill("forbidden"));
    await addComment(ada.actor, at, { comment: "The last word." });
    await setLocked(ada.actor, at, false, from);
    await addComment(bea.actor, at, { comment: "Not quite." });
  });
});

describe("deleteDiscussion", () => {
  test("deletes everything once, and the number is not reused", async () => {
    const { ada, bea, repo, id, at } = await opened();
    const all = [...[1, 2, 3].map(() => deleteDiscussion(ada.actor, at, from))];
    expect(await outcomes(all)).toEqual(["not_found", "not_found", "ok"]);
    expect(await db().discussionEvent.count({ where: { discussionId: id } })).toBe(0);
    expect((await typesOf(repo)).filter((type) => type === "discussion delete")).toHaveLength(1);
    const { row } = await openDiscussion(bea.actor, repo, { title: "Anew" });
    expect(row.num).toBe(2);
  });

  test("either writes a simultaneous comment before the deletion, or refuses it", async () => {
    const { ada, bea, repo, id, at } = await opened();
    const said = Array.from({ length: 8 }, (_, index) => addComment(bea.actor, at, { comment: `${index}` }));
    const ended = await outcomes([...said, deleteDiscussion(ada.actor, at, from)]);
    expect(ended.every((one) => one === "ok" || one === "not_found")).toBe(true);
    expect(await db().discussionEvent.count({ where: { discussionId: id } })).toBe(0);
    const types = await typesOf(repo);
    expect(types.at(-1)).toBe("discussion delete");
    expect(types.filter((type) => type === "discussion.comment create")).toHaveLength(
      ended.filter((one) => one === "ok").length - 1,
    );
  });
});

test("S137 twenty requests at once for a missing repository take one connection each", async () => {
  const { actor } = await signedInPerson();
  const absent = { repo: { type: "model", owner: "nobody", name: "none" }, num: 1 } as const;
  const asked = Array.from({ length: 20 }, () => setPinned(actor, absent, true));
  expect(await outcomes(asked)).toEqual(Array(20).fill("not_found"));
});

test("listDiscussions filters, searches, counts and pages", async () => {
  const { ada, bea, repo, at } = await opened({ title: "100% of the sea" });
  for (const title of ["Tide", "tidal wave", "Moon"]) await openDiscussion(ada.actor, repo, { title });
  await setPinned(ada.actor, { ...at, num: 2 }, true);
  await changeStatus(ada.actor, { ...at, num: 4 }, { status: "closed" });
  const list = async (filter: Parameters<typeof listDiscussions>[2], page = {}) => {
    const { items, total, counts } = await listDiscussions(anonymous, at.repo, filter, page);
    return { nums: items.map(({ num }) => num), total, counts };
  };
  expect(await list({})).toEqual({ nums: [2, 4, 3, 1], total: 4, counts: { open: 3, closed: 1 } });
  expect(await list({ status: "open" })).toMatchObject({ nums: [2, 3, 1], total: 3 });
  expect(await list({ status: "closed" })).toMatchObject({ nums: [4], total: 1 });
  expect(await list({ search: "TID" })).toMatchObject({ nums: [2, 3] });
  expect(await list({ search: "0% of" })).toMatchObject({ nums: [1] });
  expect(await list({ search: "_" })).toMatchObject({ nums: [], total: 0 });
  expect(await list({ author: bea.username.toUpperCase() })).toMatchObject({ nums: [1] });
  expect(await list({ author: "nobody-of-that-name" })).toMatchObject({ nums: [] });
  expect(await list({ kind: "pull_request" })).toMatchObject({ nums: [] });
  expect(await list({}, { page: 2, pageSize: 3 })).toMatchObject({ nums: [1], total: 4 });
  for (const odd of ["a\0b", "\ud800", "x".repeat(5_000)]) await list({ search: odd, author: odd });
  await db().discussion.updateMany({ where: { repoId: repo.id, num: 4 }, data: { num: SEARCHED_MAX + 2 } });
  expect(await list({ search: "tid" })).toMatchObject({ nums: [3], total: 1 });
});
