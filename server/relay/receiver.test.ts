import { createReceiver, type Receiver } from "@keyhook/receiver";
import { createClient } from "@keyhook/sdk";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { from, signedInPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { db } from "#core/db.ts";
import { startWorld } from "#core/oauth/testing/world.ts";
import { handleRequest } from "../handle-request.ts";

const SECRET = `whsec_${Buffer.alloc(24, 3).toString("base64")}`;
let world: Awaited<ReturnType<typeof startWorld>>;
beforeAll(async () => {
  world = await startWorld((req, res) => handleRequest(async (_, page) => void page.writeHead(404).end("a page"), req, res));
});
afterAll(() => world.stop());

test("a receiver with a relay responds at a public URL, and updates its webhooks when the URL changes", async () => {
  const person = await signedInPerson();
  const input = { name: "laptop", scopes: ["webhooks"], expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(person.actor, person.id, input as never, from);
  const client = createClient({ baseUrl: world.origin, token });
  const printed: string[] = [];
  async function launch(): Promise<{ receiver: Receiver; relayUrl: string }> {
    const receiver = createReceiver({ secret: SECRET }).on("onPush", ({ repo }) => ({ took: repo.name }));
    onTestFinished(() => receiver.close({ timeoutMs: 50 }));
    const { relayUrl = "" } = await receiver.launch({
      ...{ port: 0, handleSignals: false, print: (line: string) => void printed.push(line) },
      relay: { name: "laptop", url: world.origin, token, updateWebhooks: true },
    });
    return { receiver, relayUrl };
  }

  const first = await launch();
  expect(printed).toContain(`  POST ${first.relayUrl.replace(/\/$/, "")}/webhooks/onPush`);
  const body = JSON.stringify({ event: { scope: "repo", action: "create" }, repo: { type: "model", name: "ada/tides" } });
  const at = new Date();
  const headers = {
    "content-type": "application/json",
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": new Webhook(SECRET).sign("msg_1", at, body),
  };
  const url = `${first.relayUrl.replace(/\/$/, "")}/webhooks/onPush`;
  const taken = await fetch(url, { method: "POST", headers, body });
  expect([taken.status, await taken.json()]).toEqual([200, { took: "ada/tides" }]);
  expect((await fetch(url, { method: "POST", headers, body: `${body} ` })).status).toBe(403);
  // The sender is a stranger, although the connection comes from this machine.
  expect(await (await fetch(`${first.relayUrl.replace(/\/$/, "")}/`)).text()).not.toMatch(/Recent deliveries|name="token"/);

  const watched = [{ type: "user" as const, name: person.username }];
  const webhook = await client.webhooks.create({ url, watched, secret: SECRET });
  await first.receiver.close();
  await db().relay.updateMany({ where: { userId: person.id }, data: { expiresAt: new Date(Date.now() - 1) } });
  const second = await launch();
  expect(second.relayUrl).not.toBe(first.relayUrl);
  const moved = `${second.relayUrl.replace(/\/$/, "")}/webhooks/onPush`;
  await expect.poll(async () => (await client.webhooks.get(webhook.id)).url, { timeout: 20_000 }).toBe(moved);
  expect(printed.join("\n")).toContain(`The relay's URL has changed, from ${first.relayUrl} to ${second.relayUrl}`);
});
