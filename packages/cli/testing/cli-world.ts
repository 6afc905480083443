import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { startApiWorld } from "../../../api/testing/start-api-world.ts";
import { findSiteSession, type SiteSession } from "../../../core/accounts/sessions/find-site-session.ts";
import type { TestPerson } from "../../../core/accounts/testing/people.ts";
import { provideSettings } from "../../../core/env.ts";
import { listen } from "../../../core/notifications.ts";
import { ensureCliApp } from "../../../core/oauth/apps/create-app.ts";
import { allowDevice } from "../../../core/oauth/testing/device.ts";
import { DeliveryEngine } from "../../../core/webhooks/delivery/delivery-engine.ts";
import { DELIVERY_CHANNEL } from "../../../core/webhooks/vocabulary.ts";
import { startReplays } from "../../../worker/deliveries.ts";

export async function startCliWorld() {
  const world = await startApiWorld();
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
  await ensureCliApp();
  return world;
}

export async function startDeliveries(): Promise<void> {
  const engine = new DeliveryEngine();
  await listen(DELIVERY_CHANNEL, () => engine.announce());
  engine.start();
  const replays = await startReplays();
  onTestFinished(async () => {
    await replays.stop();
    await engine.stop();
  });
}

export async function startReceiver(
  status: () => number = () => 200,
): Promise<{ url: string; received: { body: string; headers: IncomingMessage["headers"] }[] }> {
  const received: { body: string; headers: IncomingMessage["headers"] }[] = [];
  const server = createServer(async (req, res) => {
    let body = "";
    for await (const chunk of req.setEncoding("utf8")) body += chunk;
    received.push({ body, headers: req.headers });
    res.writeHead(status()).end("ok");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

export async function authorizeDevice(person: TestPerson, userCode: string, orgIds: string[] = []): Promise<void> {
  await allowDevice((await findSiteSession(person.token)) as SiteSession, userCode, { orgIds });
}
