import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { expect, it } from "vitest";
import { createReceiver } from "../../examples/webhook-receiver/receiver.ts";

it("the example receives what standardwebhooks signs, once, and nothing else", async () => {
  const secret = `whsec_${Buffer.alloc(24, 3).toString("base64")}`;
  const received: string[] = [];
  let isBroken = true;
  const receiver = createReceiver({
    secret,
    receive({ repo }, id) {
      if (isBroken) throw new Error("not now");
      received.push(`${id} ${repo.name}`);
    },
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const body = JSON.stringify({ event: { scope: "repo", action: "create" }, repo: { type: "model", name: "ada/tides" } });
  const send = async ({ key = secret, at = new Date(), sent = body, path = "/" } = {}) => {
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": `v1,b2xk ${new Webhook(key).sign("msg_1", at, body)}`,
    };
    return (await fetch(url + path, { method: "POST", headers, body: sent })).status;
  };
  expect(await send()).toBe(500);
  isBroken = false;
  expect(await send({ key: `whsec_${Buffer.alloc(24, 4).toString("base64")}` })).toBe(401);
  expect(await send({ sent: `${body} ` })).toBe(401);
  expect(await send({ at: new Date(Date.now() - 3_600_000) })).toBe(401);
  expect([await send(), await send()]).toEqual([200, 200]);
  expect(received).toEqual(["msg_1 ada/tides"]);
  expect(await send({ path: "/maintenance" })).toBe(503);
  receiver.close();
});
