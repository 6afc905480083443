import { createHmac, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventPayloadSchema } from "@keyhook/sdk";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { createPlatform } from "#core/hub/platforms/manage-platforms.ts";
import { createAdapter, type Settings, syncAll } from "../examples/forgejo-adapter/adapter.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

const SECRET = "a secret of the webhook's";
let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: TestPerson;
let adapter: { url: string; close(): void };
let forge: { url: string; close(): void; repos: unknown[] };
let settings: Settings;

async function listen(server: ReturnType<typeof createServer>) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}

beforeAll(async () => {
  world = await startApiWorld();
  ada = await signedInPerson();
  const repos: unknown[] = [];
  const api = createServer((req, res) => {
    const isFirst = new URL(req.url ?? "", "http://forge").searchParams.get("page") === "1";
    res.setHeader("content-type", "application/json").end(JSON.stringify({ ok: true, data: isFirst ? repos : [] }));
  });
  forge = { ...(await listen(api)), repos };
  const { token } = await createPlatform(operatorCommand, { name: "forge", source: forge.url }, from);
  settings = { serviceUrl: world.origin, platformToken: token, forgeUrl: forge.url, webhookSecret: SECRET, forgeToken: "t" };
  adapter = await listen(createAdapter(settings));
});
afterAll(async () => {
  adapter.close();
  forge.close();
  await world.stop();
});

async function deliver(event: string, payload: object, { secret = SECRET, delivery = randomUUID(), brand = "forgejo" } = {}) {
  const body = JSON.stringify(payload);
  const response = await fetch(adapter.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      [`x-${brand}-event`]: event,
      [`x-${brand}-delivery`]: delivery,
      [`x-${brand}-signature`]: createHmac("sha256", secret).update(body).digest("hex"),
    },
    body,
  });
  return { status: response.status, text: await response.text() };
}

const repository = (changes: object = {}) => ({
  id: 41,
  owner: { id: 1, login: ada.username },
  name: "tides",
  full_name: `${ada.username}/tides`,
  description: "Of the sea",
  private: true,
  html_url: `https://git.example/${ada.username}/tides`,
  default_branch: "trunk",
  ...changes,
});
const sender = () => ({ id: 1, login: ada.username, full_name: "", email: "ada@example.test" });
const sha = (digit: string) => digit.repeat(40);

async function latest() {
  const [event] = await db().event.findMany({
    where: { source: { startsWith: forge.url } },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: 1,
  });
  return eventPayloadSchema.parse(event?.payload);
}

test("each of the forge's deliveries becomes the matching event", async () => {
  const tell = async (event: string, payload: object, expected: object) => {
    const told = await deliver(event, { ...payload, sender: sender() });
    expect(told.status, told.text).toBe(200);
    expect(await latest()).toMatchObject(expected);
  };
  await tell(
    "repository",
    { action: "created", repository: repository() },
    { event: { scope: "repo", action: "create" }, repo: { name: `${ada.username}/tides`, private: true } },
  );
  await tell(
    "push",
    { ref: "refs/heads/trunk", before: sha("0"), after: sha("a"), commits: [], repository: repository() },
    {
      event: { scope: "repo.content", action: "update" },
      repo: { headSha: sha("a") },
      updatedRefs: [{ ref: "refs/heads/trunk", oldSha: null, newSha: sha("a") }],
    },
  );
  const before = await db().event.count();
  expect(await deliver("create", { ref: "trunk", ref_type: "branch", sha: sha("a"), repository: repository() })).toMatchObject({
    status: 200,
  });
  expect(await db().event.count()).toBe(before);
  await tell(
    "delete",
    { ref: "topic", ref_type: "branch", repository: repository() },
    { updatedRefs: [{ ref: "refs/heads/topic", oldSha: null, newSha: null }] },
  );
  const issue = {
    id: 900,
    number: 3,
    title: "Neap tides",
    body: "They are missing.",
    state: "open",
    user: sender(),
    html_url: "https://git.example/ada/tides/issues/3",
    url: "https://git.example/api/v1/repos/ada/tides/issues/3",
    pull_request: null,
  };
  await tell(
    "issues",
    { action: "opened", number: 3, issue, repository: repository() },
    {
      event: { scope: "discussion", action: "create" },
      discussion: { num: 3, status: "open", isPullRequest: false, author: { id: ada.id }, url: { api: issue.url } },
      comment: { content: "They are missing.", author: { id: ada.id } },
    },
  );
  const { discussion } = (await latest()) as { discussion: { id: string } };
  const comment = { id: 77, body: "So they are.", user: { id: 9, login: "nobody-here" }, html_url: `${issue.html_url}#c77` };
  for (const [action, verb] of [
    ["created", "create"],
    ["edited", "update"],
    ["deleted", "delete"],
  ]) {
    await tell(
      "issue_comment",
      { action, issue, comment, repository: repository() },
      {
        event: { scope: "discussion.comment", action: verb },
        discussion: { id: discussion.id },
        comment: { content: "So they are." },
      },
    );
  }
  const closed = { ...issue, state: "closed" };
  await tell(
    "issues",
    { action: "closed", number: 3, issue: closed, repository: repository() },
    { event: { scope: "discussion", action: "update" }, discussion: { id: discussion.id, status: "closed" } },
  );
  const pull = { ...issue, id: 12, number: 4, state: "closed", merged: true, merge_commit_sha: sha("b"), base: { ref: "trunk" } };
  await tell(
    "pull_request",
    { action: "closed", number: 4, pull_request: pull, repository: repository() },
    {
      event: { scope: "discussion", action: "update" },
      discussion: {
        num: 4,
        status: "merged",
        isPullRequest: true,
        changes: { base: "refs/heads/trunk", mergeCommitId: sha("b") },
      },
    },
  );
  await tell("repository", { action: "deleted", repository: repository() }, { event: { scope: "repo", action: "delete" } });
});

test("a delivery counts only once, must be signed, and may have Gitea's headers", async () => {
  const created = { action: "created", repository: repository({ id: 42, full_name: `${ada.username}/moons`, name: "moons" }) };
  const delivery = randomUUID();
  const first = await deliver("repository", created, { delivery, brand: "gitea" });
  expect([first.status, JSON.parse(first.text).status]).toEqual([200, "recorded"]);
  expect(JSON.parse((await deliver("repository", created, { delivery })).text).status).toBe("duplicate");
  expect((await deliver("repository", created, { secret: "another" })).status).toBe(401);
  const unsigned = await fetch(adapter.url, { method: "POST", headers: { "x-forgejo-event": "push" }, body: "{}" });
  expect(unsigned.status).toBe(401);
  expect((await fetch(adapter.url)).status).toBe(405);
  expect(
    (await deliver("push", { ref: "refs/heads/x", before: sha("a"), after: sha("b"), repository: repository({ id: 404 }) }))
      .status,
  ).toBe(404);
  expect((await deliver("wiki", { repository: repository() })).text).toContain("not forwarded");
});

test("changes that no webhook reports are found in the list of repositories, and become events", async () => {
  const names: string[] = [];
  const error = vi.spyOn(console, "error").mockImplementation((line) => void names.push(String(line)));
  const kept = repository({ id: 50, name: "harbour", full_name: `${ada.username}/harbour` });
  forge.repos.splice(0, Infinity, kept, repository({ id: 51, full_name: "nobody-here/x" }));
  await syncAll(settings);
  forge.repos.splice(0, Infinity, { ...kept, full_name: `${ada.username}/haven`, private: false });
  await syncAll(settings);
  error.mockRestore();
  expect(names).toEqual(["repository 51: Owner not found"]);
  const events = await db().event.findMany({
    where: { payload: { path: ["repo", "owner", "id"], equals: ada.id }, source: null },
  });
  expect(events.map(({ scope, action }) => `${scope} ${action}`).sort()).toEqual([
    "repo create",
    "repo move",
    "repo.config update",
  ]);
});
