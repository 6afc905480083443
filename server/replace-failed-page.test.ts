import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { keepForm } from "./replace-failed-page.ts";

it("the page in place of a failed one keeps the user's input, but no hidden fields and no secrets", async () => {
  const server = createServer(async (req, res) => {
    const readForm = keepForm(req);
    for await (const _ of req);
    res.end(JSON.stringify(await readForm()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const form = new FormData();
  const hidden = ["$ACTION_ID_x", "account", "app", "password", "newPassword", "next", "appId"];
  for (const name of hidden) form.set(name, "x");
  form.set("jwks", "-----BEGIN PRIVATE KEY-----");
  form.set("fullName", "Mara");
  form.set("note", " ");
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { method: "POST", body: form });
  expect(await answer.json()).toEqual([{ name: "fullName", value: "Mara" }]);
});
