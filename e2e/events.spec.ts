import { createHmac, randomUUID } from "node:crypto";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type EventPayload, eventPayloadSchema } from "@keyhook/sdk";
import { createAdapter } from "../examples/forgejo-adapter/adapter.ts";
import { expect, test } from "./fixtures.ts";
import { admin } from "./support/admin.ts";
import type { Demo } from "./support/demo.ts";
import { enter } from "./support/enter.ts";
import { WorkTree } from "./support/git-repository.ts";
import { type HubClient, hubClient } from "./support/hub.ts";

const SCOPES = "manage-repos write-discussions";

type Listed = { events: { id: string; source: string | null; payload: unknown }[] };

async function eventsOf(demo: Demo, repoId: string): Promise<EventPayload[]> {
  const { events } = await admin<Listed>(demo, "event", "list", "--repo", repoId, "--limit", "1000");
  return events.reverse().map(({ payload }) => eventPayloadSchema.parse(payload));
}

const kindOf = ({ event }: EventPayload) => `${event.scope} ${event.action}`;

async function madeBy(demo: Demo, repoId: string, act: () => Promise<unknown>): Promise<EventPayload[]> {
  const before = (await eventsOf(demo, repoId)).length;
  await act();
  return (await eventsOf(demo, repoId)).slice(before);
}

test("S122 real actions create each kind of event about a repository that is hosted here", async ({ demo, member }) => {
  const hub = await hubClient(demo, member, SCOPES);
  const { id, name } = await hub.send<{ id: string; name: string }>("POST", "/api/repos/create", {
    name: "tides",
    type: "dataset",
    autoInit: false,
  });
  const made = (act: () => Promise<unknown>) => madeBy(demo, id, act);
  const [created] = await eventsOf(demo, id);
  expect(created).toMatchObject({
    event: { scope: "repo", action: "create" },
    repo: { id, name, type: "dataset", private: false },
  });

  const tree = new WorkTree(demo, hub.token, `datasets/${name}`);
  await tree.init();
  await tree.commit("Begin", { "README.md": "---\ntags: [sea]\n---\n# Tides\n", "tides.txt": "high\n" });
  const first = (await tree.git("rev-parse", "HEAD")).trim();
  await tree.git("branch", "low");
  await tree.git("tag", "v1");
  const pushed = await made(() => tree.git("push", "--quiet", "origin", "main", "low", "v1"));
  expect(pushed.map(kindOf)).toEqual(["repo.content update"]);
  expect(pushed[0]).toMatchObject({ repo: { headSha: first, tags: ["sea"] } });
  expect((pushed[0] as { updatedRefs: unknown[] }).updatedRefs).toEqual(
    expect.arrayContaining(
      ["refs/heads/main", "refs/heads/low", "refs/tags/v1"].map((ref) => ({ ref, oldSha: null, newSha: first })),
    ),
  );

  const deleted = await made(() => tree.git("push", "--quiet", "origin", "--delete", "low"));
  expect(deleted).toMatchObject([{ updatedRefs: [{ ref: "refs/heads/low", oldSha: first, newSha: null }] }]);
  await tree.git("commit", "--quiet", "--amend", "--message", "Begin anew");
  const refused = await made(() => expect(tree.git("push", "--quiet", "--force", "origin", "main")).rejects.toThrow());
  expect(refused).toEqual([]);

  const committed = await made(() => commitByApi(demo, hub, `/api/datasets/${name}/commit/main`));
  expect(committed).toMatchObject([
    { event: { scope: "repo.content" }, updatedRefs: [{ ref: "refs/heads/main", oldSha: first }] },
  ]);
  const branched = await made(() => hub.send("POST", `/api/datasets/${name}/branch/high`, {}));
  expect(branched).toMatchObject([{ updatedRefs: [{ ref: "refs/heads/high", oldSha: null }] }]);

  const configured = await made(() => hub.send("PUT", `/api/datasets/${name}/settings`, { private: true, gated: "auto" }));
  expect(configured).toMatchObject([
    {
      event: { scope: "repo.config", action: "update" },
      repo: { private: true },
      updatedConfig: { private: true, gated: "auto" },
    },
  ]);
  expect(await made(() => hub.send("PUT", `/api/datasets/${name}/settings`, { private: true }))).toEqual([]);

  const [north] = member.organizations;
  const toRepo = `${north.name}/moons`;
  const moved = await made(() => hub.send("POST", "/api/repos/move", { fromRepo: name, toRepo, type: "dataset" }));
  expect(moved).toMatchObject([
    { event: { scope: "repo", action: "move" }, repo: { name }, movedTo: { name: toRepo, owner: { id: north.id } } },
  ]);
  const gone = await made(() =>
    hub.send("DELETE", "/api/repos/delete", { name: "moons", organization: north.name, type: "dataset" }),
  );
  expect(gone).toMatchObject([{ event: { scope: "repo", action: "delete" }, repo: { id, name: toRepo, private: true } }]);
  tree.remove();
});

async function commitByApi(demo: Demo, { token }: HubClient, path: string, text = "low\n"): Promise<void> {
  const lines = [
    { key: "header", value: { summary: "Add low tide" } },
    { key: "file", value: { path: "low.txt", content: Buffer.from(text).toString("base64"), encoding: "base64" } },
  ];
  const response = await fetch(demo.origin + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: lines.map((line) => JSON.stringify(line)).join("\n"),
  });
  expect(response.ok, await response.text()).toBe(true);
}

test("S122 real actions create each kind of event about discussions and pull requests", async ({
  page,
  demo,
  person,
  another,
}) => {
  const hub = await hubClient(demo, person, SCOPES);
  const { id, name } = await hub.send<{ id: string; name: string }>("POST", "/api/repos/create", {
    name: "tides",
    type: "model",
    autoInit: false,
  });
  const made = (act: () => Promise<unknown>) => madeBy(demo, id, act);
  const api = `/api/models/${name}/discussions`;
  await commitByApi(demo, hub, `/api/models/${name}/commit/main`);

  await enter(page, another);
  const opened = await made(async () => {
    await page.goto(`/${name}/discussions/new`);
    await page.getByLabel("Title", { exact: true }).fill("When is the tide?");
    await page.getByLabel("Description").fill("I ask.");
    await page.getByRole("button", { name: "Open discussion" }).click();
    await expect(page.getByRole("heading", { name: "When is the tide? #1" })).toBeVisible();
  });
  expect(opened).toMatchObject([
    {
      event: { scope: "discussion", action: "create" },
      discussion: { num: 1, status: "open", isPullRequest: false, url: { api: `${demo.origin}${api}/1` } },
      comment: { content: "I ask.", hidden: false },
    },
  ]);
  expect(opened[0]?.repo).not.toHaveProperty("headSha");

  const { discussion } = opened[0] as { discussion: { url: { api: string } } };
  const answer = new URL(`${discussion.url.api}/comment`).pathname;
  let comment = "";
  const commented = await made(async () => {
    const { newMessage } = await hub.send<{ newMessage: { id: string } }>("POST", answer, { comment: "At six." });
    comment = newMessage.id;
  });
  expect(commented).toMatchObject([
    { event: { scope: "discussion.comment", action: "create" }, comment: { content: "At six." } },
  ]);
  const edited = await made(() => hub.send("POST", `${api}/1/comment/${comment}/edit`, { content: "At seven." }));
  expect(edited).toMatchObject([
    { event: { scope: "discussion.comment", action: "update" }, comment: { id: comment, content: "At seven." } },
  ]);
  const hidden = await made(() => hub.send("POST", `${api}/1/comment/${comment}/hide`, {}));
  expect(hidden).toMatchObject([
    { event: { scope: "discussion.comment", action: "update" }, comment: { id: comment, hidden: true } },
  ]);
  const deleted = await made(() => hub.send("DELETE", `${api}/1/comment/${comment}`));
  expect(deleted).toMatchObject([{ event: { scope: "discussion.comment", action: "delete" }, comment: { id: comment } }]);
  expect(JSON.stringify(hidden)).not.toContain("At seven.");

  for (const [act, expected] of [
    [() => hub.send("POST", `${api}/1/title`, { title: "When is high tide?" }), { title: "When is high tide?" }],
    [() => hub.send("POST", `${api}/1/status`, { status: "closed" }), { status: "closed" }],
    [() => hub.send("POST", `${api}/1/pin`, { pinned: true }), { pinned: true }],
  ] as const) {
    const changed = await made(act);
    expect(changed).toMatchObject([{ event: { scope: "discussion", action: "update" }, discussion: expected }]);
  }
  const removed = await made(() => hub.send("DELETE", `${api}/1`));
  expect(removed).toMatchObject([{ event: { scope: "discussion", action: "delete" }, discussion: { num: 1 } }]);

  // A new pull request is also a change of content, because it creates a ref.
  const proposed = await made(() => commitByApi(demo, hub, `/api/models/${name}/commit/main?create_pr=1`, "lower\n"));
  expect(proposed.map(kindOf).sort()).toEqual(["discussion create", "repo.content update"]);
  const pull = proposed.find(({ event }) => event.scope === "discussion") as { discussion: { num: number } };
  expect(pull).toMatchObject({ discussion: { isPullRequest: true, changes: { base: "refs/heads/main" } } });
  const { num } = pull.discussion;
  const merged = await made(() => hub.send("POST", `${api}/${num}/merge`, {}));
  expect(merged.map(kindOf).sort()).toEqual(["discussion update", "repo.content update"]);
  expect(merged.find(({ event }) => event.scope === "discussion")).toMatchObject({ discussion: { num, status: "merged" } });
});

test("a forge reports its repositories to the service through the adapter", async ({ page, demo, person }) => {
  const forgeUrl = `https://${randomUUID()}.example`;
  const platform = await admin(demo, "platform", "create", "--name", `forge ${randomUUID()}`, "--source", forgeUrl);
  const webhookSecret = randomUUID();
  const adapter = createAdapter({ serviceUrl: demo.origin, platformToken: platform.token ?? "", forgeUrl, webhookSecret });
  const url = await listen(adapter);
  const repository = {
    id: 7,
    full_name: `${person.username}/shores`,
    private: true,
    html_url: `${forgeUrl}/shores`,
    default_branch: "main",
  };
  const report = async (event: string, payload: object) => {
    const body = JSON.stringify({ ...payload, repository });
    const signature = createHmac("sha256", webhookSecret).update(body).digest("hex");
    const headers = { "x-forgejo-event": event, "x-forgejo-delivery": randomUUID(), "x-forgejo-signature": signature };
    const response = await fetch(url, { method: "POST", headers, body });
    expect(response.status, await response.text()).toBe(200);
  };
  await report("repository", { action: "created" });
  await report("push", { ref: "refs/heads/main", before: "0".repeat(40), after: "a".repeat(40) });
  const { events } = await admin<Listed>(demo, "event", "list", "--repo", `${person.username}/shores`);
  expect(events.map(({ source, payload }) => [source, kindOf(eventPayloadSchema.parse(payload))])).toEqual([
    [`${forgeUrl}/${repository.full_name}`, "repo.content update"],
    [`${forgeUrl}/${repository.full_name}`, "repo create"],
  ]);
  expect((await page.request.get(`/${repository.full_name}`)).status()).toBe(404);
  await enter(page, person);
  expect((await page.request.get(`/${repository.full_name}`)).status()).toBe(200);
  adapter.close();
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
