import { beforeAll, describe, expect, it } from "vitest";
import { from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { someApp } from "#core/accounts/testing/tokens.ts";
import { db } from "#core/db.ts";
import { createCollection } from "#core/hub/collections/change-collections.ts";
import { collectionPath } from "#core/hub/collections/collection.ts";
import { insertEvents } from "#core/hub/discussions/insert-events.ts";
import { openDiscussion } from "#core/hub/discussions/open-discussion.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { runGit } from "#core/hub/git/run-git.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { service } from "#core/testing/shared-service.ts";
import { webhookTo } from "#core/webhooks/testing/deliveries.ts";

let ada: TestPerson;

beforeAll(async () => {
  ada = await signedInPerson("Ada");
});

/** A page has each text twice, and an ampersand then has eleven bytes. */
async function bytesOf(path: string): Promise<number> {
  const cookie = `session-${new URL(service.origin).port}=${ada.token}`;
  const answer = await fetch(service.origin + path, { redirect: "manual", headers: { cookie } });
  const body = await answer.text();
  expect(answer.status, path).toBe(200);
  return body.length;
}

describe("S137 a page stays small", { timeout: 120_000 }, () => {
  it("with a long README that is plain text, and with a long file in the editor", async () => {
    const repo = await someRepo(ada);
    await commitTo(repo, ada, {
      readme: "&".repeat(1_000_000),
      "long.txt": "&".repeat(500_000),
      "longer.txt": "&".repeat(600_000),
    });
    expect(await bytesOf(`/${repo.fullName}`)).toBeLessThan(3_000_000);
    expect(await bytesOf(`/${repo.fullName}/tree/main`)).toBeLessThan(3_000_000);
    for (const name of ["long", "longer"]) {
      expect(await bytesOf(`/${repo.fullName}/edit/main/${name}.txt`), name).toBeLessThan(9_000_000);
    }
  });

  it("with thousands of branches to choose from", async () => {
    const repo = await someRepo(ada);
    const sha = await commitTo(repo, ada, { a: "b" });
    const name = (at: number) => `${"&".repeat(200)}/${"&".repeat(150)}${at}`;
    const input = Array.from({ length: 1_000 }, (_, at) => `create refs/heads/${name(at)} ${sha}\n`).join("");
    await runGit(await openRepository(repo), ["update-ref", "--stdin"], { input });
    expect(await bytesOf(`/${repo.fullName}/discussions/new?kind=pull-request`)).toBeLessThan(3_000_000);
  });

  it("with the longest commands of jobs and schedules", async () => {
    const spec = {
      dockerImage: "debian",
      command: Array.from({ length: 60 }, () => "'".repeat(8_000)),
      arguments: [],
      environment: {},
    };
    const both = {
      ownerId: ada.id,
      ownerKind: "user",
      createdById: ada.id,
      spec: { ...spec, flavor: "cpu-basic", network: false, labels: {} },
    };
    const [id, other] = [newId(), newId()];
    const run = {
      ...both,
      initiator: { type: "user", id: ada.id, name: ada.username },
      stage: "COMPLETED",
      finishedAt: new Date(),
    };
    await db().jobRun.createMany({ data: [id, other].map((id) => ({ ...run, id })) });
    await db().scheduledJob.create({ data: { ...both, id: newId(), schedule: "@yearly", isSuspended: true } });
    const paths = ["", `/${id}`, `/new?from=${id}`, `/schedules/new?from=${id}`, "/schedules"];
    for (const path of paths) expect(await bytesOf(`/settings/jobs${path}`), path).toBeLessThan(2_000_000);
  });

  it("with many long responses to a webhook", async () => {
    const webhookId = await webhookTo({ url: "https://hook.example.com/x", ownerId: ada.id });
    const [id, eventId] = [newId(), newId()];
    const of = { scope: "repo.content", action: "update", repoId: newId(), repoType: "model" };
    const event = { ...of, id: eventId, ownerId: ada.id, isPrivate: false, payload: { refs: "&".repeat(200_000) } };
    await db().event.create({ data: { ...event, fannedOutAt: new Date() } });
    const delivery = { ...of, id, webhookId, ownerId: ada.id, eventId, kind: "event", repoName: "a/b", state: "delivered" };
    await db().delivery.create({ data: { ...delivery, attempts: 20 } });
    const attempt = { deliveryId: id, webhookId, ownerId: ada.id, kind: "replay", startedAt: new Date(), outcome: "delivered" };
    const answer = { url: "https://hook.example.com/x", signature: "v1,a", status: 200, totalMs: 5, responseHeaders: {} };
    const bodies = ["&".repeat(65_000), `[${"1,".repeat(12_000)}1]`];
    const attempts = Array.from({ length: 20 }, (_, at) => ({
      number: at + 1,
      responseBody: Buffer.from(bodies[at % 2] as string),
    }));
    await db().attempt.createMany({ data: attempts.map((one) => ({ ...attempt, ...answer, ...one, id: newId() })) });
    expect(await bytesOf(`/settings/webhooks/${webhookId}?delivery=${id}`)).toBeLessThan(12_000_000);
  });

  it("with twenty apps in five hundred organizations", async () => {
    const fullName = "&".repeat(100);
    const orgs = Array.from({ length: 500 }, () => ({ id: newId(), name: newId(), fullName }));
    await db().organization.createMany({ data: orgs });
    await db().membership.createMany({ data: orgs.map(({ id }) => ({ orgId: id, userId: ada.id, role: "read" })) });
    const consent = { userId: ada.id, scopes: ["openid"], clientFingerprint: "x", isAllOrgs: true };
    for (let at = 0; at < 20; at++) {
      await db().oAuthConsent.create({ data: { ...consent, id: newId(), clientId: await someApp() } });
    }
    expect(await bytesOf("/settings/connected-applications")).toBeLessThan(6_000_000);
  });

  it("with a full collection", async () => {
    const repos = Array.from({ length: 500 }, () => newId());
    const row = { type: "model", ownerId: ada.id, ownerKind: "user", description: "&".repeat(500) };
    await db().repo.createMany({ data: repos.map((id) => ({ ...row, id, name: id, nameCanonical: id })) });
    const { collection } = await createCollection(ada.actor, { owner: ada.username, title: "Tides" }, from);
    const items = repos.map((repoId, position) => ({ id: newId(), collectionId: collection.id, repoId, position }));
    await db().collectionItem.createMany({ data: items.map((item) => ({ ...item, note: "&".repeat(500) })) });
    expect(await bytesOf(collectionPath(collection))).toBeLessThan(8_000_000);
    expect(await bytesOf(`${collectionPath(collection)}/edit`)).toBeLessThan(8_000_000);
  });

  it("with webhooks whose URLs have very many slashes", async () => {
    const url = `https://hook.example.com/${"x/".repeat(980)}`;
    for (let at = 0; at < 100; at++) {
      const id = await webhookTo({ url, ownerId: ada.id });
      await db().webhook.update({ where: { id }, data: { name: "hook" } });
    }
    expect(await bytesOf("/settings/webhooks")).toBeLessThan(2_000_000);
  });

  it("with a long file in very many folders, and many branches", async () => {
    const repo = await someRepo(ada);
    const path = `${`${"é".repeat(10)}/`.repeat(190)}long.txt`;
    const sha = await commitTo(repo, ada, { [path]: "&".repeat(500_000) });
    const branches = Array.from({ length: 30 }, (_, at) => `create refs/heads/b${at} ${sha}\ncreate refs/tags/t${at} ${sha}\n`);
    await runGit(await openRepository(repo), ["update-ref", "--stdin"], { input: branches.join("") });
    expect(await bytesOf(`/${repo.fullName}/blob/main/${encodeURI(path)}`)).toBeLessThan(8_000_000);
  });

  it("with a comparison of long commits and long lines", async () => {
    const repo = await someRepo(ada);
    const path = await openRepository(repo);
    const message = `${"&".repeat(500)}\n\n${"&".repeat(3_000)}`;
    const commits = Array.from(
      { length: 250 },
      (_, at) => `commit refs/heads/main\ncommitter ${"&".repeat(200)} <a@b.c> ${at} +0000\ndata ${message.length}\n${message}\n`,
    );
    const input = `commit refs/heads/base\ncommitter a <a@b.c> 1 +0000\ndata 1\nx\n\n${commits.join("")}`;
    await runGit(path, ["fast-import", "--quiet"], { input });
    const files = Array.from({ length: 110 }, (_, at) => [`${"&".repeat(1_200)}${at}`, `${"&".repeat(900)}\n`.repeat(3)]);
    await commitTo(repo, ada, Object.fromEntries(files));
    expect(await bytesOf(`/${repo.fullName}/compare/base..main`)).toBeLessThan(8_500_000);
  });

  it("with long comments of the reader", async () => {
    const repo = await someRepo(ada);
    const { row } = await openDiscussion(ada.actor, repo, { title: "Tides" });
    const comment = { type: "comment", authorId: ada.id, content: "&".repeat(6_500) } as const;
    await insertEvents(
      db(),
      row.id,
      Array.from({ length: 50 }, () => comment),
    );
    expect(await bytesOf(`/${repo.fullName}/discussions/${row.num}`)).toBeLessThan(7_500_000);
  });
});
