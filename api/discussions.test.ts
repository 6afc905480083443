import { repoApiPath, type Scope } from "@keyhook/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { db } from "#core/db.ts";
import { openPullRequest } from "#core/hub/discussions/open-pull-request.ts";
import { walks } from "#core/hub/git/queues.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { branchWith, setRef } from "#core/hub/testing/discussions.ts";
import { commitTo, eventsOf, someRepo } from "#core/hub/testing/repos.ts";
import { signIn } from "#core/oauth/testing/sign-in.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

// biome-ignore lint/suspicious/noExplicitAny: the shape of the responses is what is tested
type Json = any;
type Somebody = TestPerson & { accessToken: string };

async function somebody(stem = "ada", scopes: Scope[] = ["write-discussions", "read-repos", "write-repos"]): Promise<Somebody> {
  const person = await signedInPerson(stem);
  const { token } = await createPersonalAccessToken(person.actor, person.id, { name: "laptop", scopes, expiresInDays: 1 }, from);
  return { ...person, accessToken: token };
}

async function send(
  person: { accessToken: string } | null,
  method: string,
  url: string,
  body?: unknown,
): Promise<{ status: number; headers: Headers; body: Json }> {
  const response = await fetch(url.startsWith("http") ? url : `${world.origin}${url}`, {
    method,
    headers: {
      ...(person && { authorization: `Bearer ${person.accessToken}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const at = (repo: Repo, rest = "") => `${repoApiPath(repo.type, repo.fullName)}/discussions${rest}`;

function deserialized(event: Json) {
  const common = { id: event.id, type: event.type, createdAt: new Date(event.createdAt), author: event.author.name };
  expect(common).toMatchObject({ id: expect.any(String), author: expect.any(String) });
  expect(common.createdAt.toISOString()).toBe(event.createdAt);
  const { data } = event;
  if (event.type === "comment") return { ...common, edited: data.edited, hidden: data.hidden, content: data.latest.raw };
  if (event.type === "status-change") return { ...common, newStatus: data.status };
  if (event.type === "commit") return { ...common, summary: data.subject, oid: data.oid };
  if (event.type === "title-change") return { ...common, oldTitle: data.from, newTitle: data.to };
  return common;
}

describe.each(["model", "dataset", "space"] as const)("the Python client, in a %s,", (type) => {
  test("opens, comments on, edits, hides, renames, closes, reads and lists discussions", async () => {
    const ada = await somebody();
    const repo = await someRepo(ada, { type });
    const opened = await send(ada, "POST", at(repo), { title: "Where?", description: "I ask.", pullRequest: false });
    expect(opened).toMatchObject({ status: 200, body: { num: 1, pullRequest: false } });
    expect(opened.body.url).toMatch(/\/discussions\/1$/);
    const comment = await send(ada, "POST", at(repo, "/1/comment"), { comment: "There." });
    expect(deserialized(comment.body.newMessage)).toMatchObject({
      type: "comment",
      content: "There.",
      edited: false,
      hidden: false,
    });
    const one = at(repo, `/1/comment/${comment.body.newMessage.id}`);
    const edited = await send(ada, "POST", `${one}/edit`, { content: "Here." });
    expect(deserialized(edited.body.updatedComment)).toMatchObject({ content: "Here.", edited: true });
    const reacted = await send(ada, "POST", `${one}/reaction`, { reaction: "🎉" });
    expect(reacted.body.updatedComment.data.reactions).toEqual([{ reaction: "🎉", count: 1, isOwn: true }]);
    expect((await send(ada, "DELETE", `${one}/reaction`, { reaction: "🎉" })).body.updatedComment.data.reactions).toEqual([]);
    const hidden = await send(ada, "POST", `${one}/hide`);
    expect(deserialized(hidden.body.updatedComment)).toMatchObject({ hidden: true, content: "" });
    const renamed = await send(ada, "POST", at(repo, "/1/title"), { title: "Where then?" });
    expect(deserialized(renamed.body.newTitle)).toMatchObject({ oldTitle: "Where?", newTitle: "Where then?" });
    const closed = await send(ada, "POST", at(repo, "/1/status"), { status: "closed", comment: "Done." });
    expect(deserialized(closed.body.newStatus)).toMatchObject({ newStatus: "closed" });
    expect(await send(ada, "POST", at(repo, "/1/pin"))).toMatchObject({ status: 200, body: { pinned: true } });
    expect(await send(ada, "POST", at(repo, "/1/pin"), { pinned: false })).toMatchObject({ body: { pinned: false } });
    const details = await send(null, "GET", at(repo, "/1?diff=1"));
    expect(details.body).toMatchObject({
      num: 1,
      title: "Where then?",
      status: "closed",
      isPullRequest: false,
      author: { name: ada.username, fullname: expect.any(String), avatarUrl: expect.any(String), type: "user" },
      createdAt: expect.any(String),
      repo: { name: repo.fullName, type },
      pinned: false,
    });
    expect(details.body.events.map(deserialized).map((event: { type: string }) => event.type)).toEqual([
      "comment",
      "comment",
      "title-change",
      "comment",
      "status-change",
      "pinning-change",
      "pinning-change",
    ]);
    expect(JSON.stringify(details.body)).not.toContain("Here.");
    const listed = await send(null, "GET", at(repo, "?p=0"));
    expect(listed.body).toMatchObject({
      count: 1,
      start: 0,
      numClosedDiscussions: 1,
      discussions: [{ num: 1, status: "closed" }],
    });
    expect((await send(null, "GET", at(repo, "?p=0&status=open&type=discussion"))).body).toMatchObject({
      count: 0,
      discussions: [],
    });
    expect(await send(ada, "DELETE", at(repo, "/1"))).toMatchObject({ status: 200, body: { success: true } });
    expect(await send(ada, "GET", at(repo, "/1"))).toMatchObject({ status: 404 });
  });

  test("opens a draft pull request, pushes to it and merges it", async () => {
    const ada = await somebody();
    const repo = await someRepo(ada, { type });
    await commitTo(repo, ada, { "a.txt": "a\n" });
    expect(await send(ada, "POST", at(repo), { title: "More", description: "", pullRequest: true })).toMatchObject({
      body: { num: 1, pullRequest: true },
    });
    const head = await branchWith(repo, ada, "elsewhere", { "b.txt": "b\n" }, { message: "Add b" });
    await setRef(repo, ada, "refs/pr/1", head);
    expect(await send(ada, "POST", at(repo, "/1/merge"))).toMatchObject({ status: 409 });
    await send(ada, "POST", at(repo, "/1/status"), { status: "open" });
    const { body } = await send(null, "GET", at(repo, "/1?diff=1"));
    expect(body).toMatchObject({
      status: "open",
      isPullRequest: true,
      changes: { base: "refs/heads/main" },
      filesWithConflicts: [],
    });
    expect(body.changes.mergeCommitId).toBeUndefined();
    expect(body.diff).toContain("+++ b/b.txt");
    expect(body.events.map(deserialized)).toMatchObject([
      { type: "commit", summary: "Add b", oid: head },
      { type: "status-change", newStatus: "open" },
    ]);
    const merged = await send(ada, "POST", at(repo, "/1/merge"), { comment: "Thanks" });
    expect(merged).toMatchObject({ status: 200, body: { mergeCommitId: expect.stringMatching(/^[0-9a-f]{40}$/) } });
    const after = (await send(null, "GET", at(repo, "/1?diff=1"))).body;
    expect(after).toMatchObject({ status: "merged", changes: { mergeCommitId: merged.body.mergeCommitId }, diff: body.diff });
    expect(await send(ada, "DELETE", at(repo, "/1/ref"))).toMatchObject({ status: 200 });
    expect((await send(null, "GET", at(repo, "/1?diff=1"))).body.diff).toBe(body.diff);
  });
});

test("a bot replies at the URL that the event names", async () => {
  const ada = await somebody();
  const repo = await someRepo(ada, { type: "dataset" });
  await send(ada, "POST", at(repo), { title: "Where?", description: "I ask." });
  const { payload } = (await eventsOf(repo)).find(({ scope }) => scope === "discussion") as { payload: Json };
  const answered = await send(ada, "POST", `${payload.discussion.url.api}/comment`, { comment: "Noted." });
  expect(answered).toMatchObject({ status: 200, body: { newMessage: { data: { latest: { raw: "Noted." } } } } });
});

describe("S135 permissions", () => {
  test("a user's or an app's token without write-discussions is refused, and the refusal names the scope", async () => {
    const ada = await somebody("ada", ["read-repos", "write-repos"]);
    const repo = await someRepo(ada);
    const refused = await send(ada, "POST", at(repo), { title: "Why?" });
    expect(refused).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
    expect(refused.body.error).toContain("write-discussions");
    expect(refused.headers.get("www-authenticate")).toContain('scope="write-discussions"');
    const { tokens } = await signIn(world, { scopes: ["openid", "profile", "write-discussions"] }, { scope: "openid profile" });
    const app = { accessToken: tokens.access_token };
    expect(await send(app, "POST", at(repo), { title: "Why?" })).toMatchObject({
      status: 403,
      body: { code: "insufficient_scope" },
    });
    const able = await signIn(world, { scopes: ["openid", "write-discussions"] }, { scope: "openid write-discussions" });
    expect(await send({ accessToken: able.tokens.access_token }, "POST", at(repo), { title: "Why?" })).toMatchObject({
      status: 200,
    });
  });

  test("S136 everybody who may not see a private repository gets the same response as for a missing one", async () => {
    const [ada, bea] = [await somebody(), await somebody("bea")];
    const repo = await someRepo(ada, { isPrivate: true });
    await send(ada, "POST", at(repo), { title: "Why?", description: "Because." });
    const gone = at({ ...repo, fullName: `${ada.username}/nothing-here` });
    const calls: [string, string, unknown?][] = [
      ["GET", ""],
      ["POST", "", { title: "x" }],
      ["GET", "/1"],
      ["POST", "/1/comment", { comment: "x" }],
      ["POST", `/1/comment/${"0".repeat(24)}/edit`, { content: "x" }],
      ["POST", `/1/comment/${"0".repeat(24)}/hide`],
      ["POST", `/1/comment/${"0".repeat(24)}/reaction`, { reaction: "👍" }],
      ["POST", "/1/title", { title: "x" }],
      ["POST", "/1/status", { status: "closed" }],
      ["POST", "/1/merge"],
      ["POST", "/1/pin"],
      ["POST", "/1/lock"],
      ["DELETE", "/1"],
      ["DELETE", "/1/ref"],
    ];
    for (const [method, rest, body] of calls) {
      const there = await send(bea, method, at(repo, rest), body);
      const nowhere = await send(bea, method, gone + rest, body);
      expect([method, rest, there.status, there.body]).toEqual([method, rest, 404, nowhere.body]);
      expect(there.headers.get("x-error-code")).toBe("RepoNotFound");
      const asked = await send(null, method, at(repo, rest), body);
      expect([method, rest, asked.status]).toEqual([method, rest, method === "GET" ? 404 : 401]);
    }
  });

  test("a user without access to a gated repository reads a discussion but not a diff", async () => {
    const [ada, bea] = [await somebody(), await somebody("bea")];
    const repo = await someRepo(ada);
    await commitTo(repo, ada, { "a.txt": "a\n" });
    await branchWith(repo, ada, "more", { "b.txt": "secret\n" });
    await db().repo.update({ where: { id: repo.id }, data: { gated: "manual" } });
    expect(await send(ada, "POST", at(repo), { title: "More", pullRequest: true, head: "more" })).toMatchObject({ status: 200 });
    const { body } = await send(bea, "GET", at(repo, "/1?diff=1"));
    expect(body).toMatchObject({ num: 1, status: "open" });
    expect(body).not.toHaveProperty("diff");
    expect((await send(ada, "GET", at(repo, "/1?diff=1"))).body.diff).toContain("secret");
  });

  test("S135 conflicts do not reveal the lines of a gated file to a stranger", async () => {
    const [ada, bea] = [await somebody(), await somebody("bea")];
    const repo = await someRepo(ada);
    const old = await commitTo(repo, ada, { "people.csv": "ada\nbea\ncy\ndot\neve\n" });
    await commitTo(repo, ada, { "people.csv": "ada\nbea\nzoe\ndot\neve\n" });
    await db().repo.update({ where: { id: repo.id }, data: { gated: "manual" } });
    const guess = async (content: string) => {
      const commit = { summary: "Guess", parentCommit: old, files: [{ path: "people.csv", content }] };
      const proposed = await send(bea, "POST", `${repoApiPath(repo.type, repo.fullName)}/commit/main?create_pr=1`, commit);
      const { pathname } = new URL(proposed.body.pullRequestUrl);
      const read = async (reader: Somebody) =>
        (await send(reader, "GET", at(repo, `/${pathname.split("/").at(-1)}`))).body.filesWithConflicts;
      return [await read(bea), await read(ada)];
    };
    expect(await guess("bea\ncy\ndot\n")).toEqual([null, []]);
    expect(await guess("bea\nnobody\ndot\n")).toEqual([null, ["people.csv"]]);
  });
});

describe("S138 odd input", () => {
  test("is refused with a message, never with a 5xx", async () => {
    const ada = await somebody();
    const repo = await someRepo(ada);
    await send(ada, "POST", at(repo), { title: "Why?", description: "Because." });
    const texts = ['"a\\u0000b"', '"\\ud800"', `"${"x".repeat(900_000)}"`, "7", "null", "{}", "[]", '""'];
    for (const text of texts) {
      expect((await send(ada, "POST", at(repo), `{"title":${text}}`)).status).toBe(400);
      expect((await send(ada, "POST", at(repo, "/1/comment"), `{"comment":${text}}`)).status).toBe(400);
      expect((await send(ada, "POST", at(repo, "/1/status"), `{"status":${text}}`)).status).toBe(400);
    }
    expect((await send(ada, "POST", at(repo, "/1/comment"), { comment: "x".repeat(1_100_000) })).status).toBe(413);
    for (const text of ["{", "[1]", "x", ""]) {
      expect((await send(ada, "POST", at(repo, "/1/comment"), text)).status).toBe(400);
    }
    for (const num of ["0", "-1", "x", "1.5", "99999999999999999999", "4294967297", "%F0%9F%8C%8A", "1%20"]) {
      expect((await send(ada, "GET", at(repo, `/${num}`))).status).toBe(404);
      expect((await send(ada, "POST", at(repo, `/${num}/comment`), { comment: "x" })).status).toBe(404);
    }
    for (const id of ["x", "0".repeat(24), "%F0%9F%8C%8A", "..%2F.."]) {
      expect((await send(ada, "POST", at(repo, `/1/comment/${id}/hide`))).status).toBe(404);
    }
    for (const query of ["?p=-1", "?p=x", "?status=x", "?type=x"])
      expect((await send(ada, "GET", at(repo, query))).status).toBe(400);
    for (const query of ["?p=99999", "?author=%25", "?search=%F0%9F%8C%8A%5C%25_"]) {
      expect(await send(ada, "GET", at(repo, query))).toMatchObject({ status: 200, body: { discussions: [] } });
    }
    const escaped = "\\u00fc".repeat(32 * 1024);
    expect((await send(ada, "POST", at(repo, "/1/comment"), `{"comment":"${escaped}"}`)).status).toBe(200);
  });

  test("discussions and pull requests are refused with the reason if they are disabled", async () => {
    const ada = await somebody();
    const repo = await someRepo(ada);
    await db().repo.update({ where: { id: repo.id }, data: { hasDiscussions: false } });
    for (const pullRequest of [false, true]) {
      const refused = await send(ada, "POST", at(repo), { title: "Why?", pullRequest });
      expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining("disabled") } });
    }
  });

  test("a long discussion is read page by page, and each page links to the next", async () => {
    const ada = await somebody();
    const repo = await someRepo(ada);
    await send(ada, "POST", at(repo), { title: "Long", description: "0" });
    const discussion = await db().discussion.findFirstOrThrow({ where: { repoId: repo.id } });
    await db().discussionEvent.createMany({
      data: Array.from({ length: 501 }, (_, index) => ({
        id: `${index}`.padStart(24, "0"),
        discussionId: discussion.id,
        type: "comment",
        authorId: ada.id,
        content: `${index}`,
        createdAt: new Date(Date.now() + index),
      })),
    });
    const first = await send(null, "GET", at(repo, "/1"));
    expect(first.body.events).toHaveLength(500);
    const [, next = ""] = /<(.+)>; rel="next"/.exec(first.headers.get("link") ?? "") ?? [];
    const second = await send(null, "GET", next);
    expect(second.body.events.map((event: Json) => event.data.latest.raw)).toEqual(["499", "500"]);
    expect(second.headers.get("link")).toBeNull();
  });
});

test("S137 a pull request can be read while git is busy, but without its conflicts", async () => {
  const ada = await somebody();
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a\n" });
  const head = await branchWith(repo, ada, "elsewhere", { "b.txt": "b\n" });
  await openPullRequest(ada.actor, repo, { title: "More", head: { sha: head } });
  const places = [];
  for (let party = 0; walks.counts.waiting === 0; party++) {
    const place = walks.take({ party: { key: `account ${party}`, isAnonymous: false }, waitMaxMs: 20 });
    places.push(place.catch(() => () => undefined));
  }
  const read = () => send(null, "GET", at(repo, "/1"));
  const late = await read();
  for (const release of await Promise.all(places)) release();
  expect(late).toMatchObject({ status: 200, body: { title: "More", status: "open", filesWithConflicts: null } });
  await expect.poll(async () => (await read()).body.filesWithConflicts).toEqual([]);
});
