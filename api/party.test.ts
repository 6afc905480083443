import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import type { Slot } from "#core/fair-queue/fair-queue.ts";
import { currentParty, type Party } from "#core/fair-queue/party.ts";
import { pushes } from "#core/hub/git/queues.ts";
import { createCommit } from "#core/hub/git/write/create-commit.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { requestContext } from "#core/log.ts";
import { api } from "./app.ts";
import { parseOperations } from "./routes/commits/commit-lines.ts";
import { readNdjson } from "./routes/commits/read-ndjson.ts";
import { jobToken } from "./testing/access-tokens.ts";
import { tokenOf } from "./testing/git-client.ts";

let ada: TestPerson;
let repo: Repo;
let token: string;
beforeAll(async () => {
  ada = await signedInPerson();
  repo = await someRepo(ada);
  await commitTo(repo, ada, { "README.md": "# Tide\n" });
  token = await tokenOf(ada);
});

async function partyOf(path: string, headers: Record<string, string> = {}): Promise<Party> {
  return requestContext.run({ requestId: "test", ip: "192.0.2.7" }, async () => {
    const answer = await api.request(path, { headers });
    expect(answer.status).toBe(200);
    return currentParty();
  });
}

describe("S137 the slot of a request", () => {
  const address = { key: "address 192.0.2.7", isAnonymous: true };
  const tree = () => `/api/models/${repo.fullName}/tree/main`;
  const file = () => `/${repo.fullName}/resolve/main/README.md`;

  test("counts against the IP address without credentials or with an invalid cookie", async () => {
    expect(await partyOf(tree())).toEqual(address);
    expect(await partyOf(file(), { cookie: `${siteSessionCookie().name}=nonsense` })).toEqual(address);
  });

  test("counts against the user's account with a bearer token or a session", async () => {
    const account = { key: `account ${ada.id}`, isAnonymous: false };
    expect(await partyOf(tree(), { authorization: `Bearer ${token}` })).toEqual(account);
    expect(await partyOf(file(), { cookie: `${siteSessionCookie().name}=${ada.token}` })).toEqual(account);
  });

  test("counts against the user who added the publisher of a job's token, in any repository", async () => {
    const grace = await signedInPerson();
    const ofGrace = await someRepo(grace);
    const account = { key: `account ${ada.id}`, isAnonymous: false };
    for (const job of [{ repoId: repo.id }, { repoId: repo.id }, { repoId: ofGrace.id }, { userId: ada.id }]) {
      const authorization = `Bearer ${await jobToken(job, ada)}`;
      expect(await partyOf(tree(), { authorization })).toEqual(account);
      expect(await partyOf(file(), { authorization })).toEqual(account);
    }
    const authorization = `Bearer ${await jobToken({ repoId: ofGrace.id })}`;
    expect(await partyOf(tree(), { authorization })).toEqual({ key: `account ${grace.id}`, isAnonymous: false });
  });
});

const trickle = (start: string) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(start)),
    async pull(controller) {
      await delay(20);
      controller.enqueue(Buffer.from(" "));
    },
  });

describe("S137 a commit that arrives a byte at a time", () => {
  test("is ended", async () => {
    const lines = readNdjson(trickle(""), { graceMs: 200, checkEveryMs: 20 });
    await expect(lines.next()).rejects.toThrow(/more slowly than 1 KiB per second/);
  });

  test("gives its slot to a waiting caller, and keeps it while nobody waits", async () => {
    const [owner = "", name = ""] = repo.fullName.split("/");
    const pace = { bytesPerSecond: 1, checkEveryMs: 20, contendedGraceMs: 50 };
    const commit = requestContext.run({ requestId: "test", party: { key: `account ${ada.id}`, isAnonymous: false } }, () => {
      const operations = parseOperations(readNdjson(trickle(""), pace));
      return createCommit(ada.actor, { type: repo.type, owner, name }, { revision: "main", summary: "Slow", operations });
    });
    const ended = commit.catch((error: unknown) => error);
    await expect.poll(() => pushes.counts.taken, { interval: 5 }).toBe(1);
    await delay(200);
    expect(pushes.counts.taken).toBe(1);
    const others: Promise<Slot>[] = [];
    for (let party = 0; pushes.counts.waiting === 0; party++) {
      others.push(pushes.take({ party: { key: `account ${party}`, isAnonymous: false } }));
    }
    expect(await ended).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("64 KiB per second while others wait"),
    });
    for (const release of await Promise.all(others)) release();
    expect(pushes.counts).toMatchObject({ taken: 0, waiting: 0 });
  });
});
