import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { createPlatform } from "#core/hub/platforms/manage-platforms.ts";
import { syncRepos } from "#core/hub/platforms/sync-repos.ts";
import { newId } from "#core/ids.ts";
import { makeWebhook } from "./chaos/load.ts";
import { load, type Prepared } from "./load.ts";

export type SomePlatform = { source: string; token: string };

export async function addPlatform(ownerId: string, url?: string): Promise<SomePlatform> {
  const name = `bench-${newId()}.example`;
  const platform = await createPlatform(operatorCommand, { name, source: `https://${name}` }, noOrigin);
  const repo = { id: 1, type: "model", name: `mara/${newId()}`, private: false, url: `https://${name}/tides` };
  await syncRepos(platform, { repos: [repo] }, noOrigin);
  const { id } = await db().repo.findFirstOrThrow({ where: { platformId: platform.id } });
  if (url) await makeWebhook(ownerId, id, url, "a secret of the bench");
  return platform;
}

export function eventRequest({ source, token }: SomePlatform, count = 1, newSha = "1"): Prepared {
  const refs = [{ ref: "refs/heads/main", oldSha: "0".repeat(40), newSha: newSha.padStart(40, "0") }];
  const data = { repo: { externalId: "1" }, updatedRefs: refs };
  const events = Array.from({ length: count }, () => ({
    ...{ specversion: "1.0", id: newId(), source, type: "repo.content.update", data },
  }));
  const kind = count === 1 ? "cloudevents" : "cloudevents-batch";
  return {
    method: "POST",
    path: "/api/events",
    headers: { authorization: `Bearer ${token}`, "content-type": `application/${kind}+json` },
    body: JSON.stringify(count === 1 ? events[0] : events),
  };
}

export const eventRequests = (platforms: SomePlatform[], count: number): Prepared[] =>
  Array.from({ length: count }, (_, nth) => eventRequest(platforms[nth % platforms.length] as SomePlatform));

export async function untilFannedOut(): Promise<void> {
  while (await db().event.findFirst({ where: { fannedOutAt: null }, select: { id: true } })) await delay(100);
}

export type Receiver = Awaited<ReturnType<typeof startCounting>>;

export async function startCounting() {
  let arrived = 0;
  const server = createServer(async (req, res) => {
    await text(req);
    res.end("ok");
    arrived++;
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async deliver(origin: string, requests: Prepared[]): Promise<void> {
      arrived = 0;
      await load(origin, requests, 200);
      while (arrived < requests.length) await delay(20);
    },
    stop: () => server.close().closeAllConnections(),
  };
}
