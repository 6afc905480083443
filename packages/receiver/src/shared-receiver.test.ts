import { it } from "vitest";
import { samplePayload } from "./landing/answer-landing.ts";
import { runScript } from "./testing/script.ts";

const poll = { timeout: 20_000 };
const post = (url: string) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(samplePayload()) });

it.concurrent("the shared receiver starts once at the end of the script, and finishes running handlers after SIGTERM", async ({
  expect,
}) => {
  await using script = runScript(`
    import { webhook } from "@keyhook/receiver";
    webhook(async function onPush({ repo }) { console.log("working"); await new Promise((done) => setTimeout(done, 400)); return { repo: repo.name }; });
    await new Promise((done) => setTimeout(done, 50));
    webhook("/second/", () => undefined);
    console.log("end of the script");
  `);
  await expect.poll(script.url, poll).toBeDefined();
  const output = script.output();
  expect(output.indexOf("end of the script")).toBeLessThan(output.indexOf("POST"));
  await expect.poll(script.output, poll).toContain("WARNING");
  expect(output.match(/Webhooks are received at/g)).toHaveLength(1);
  expect(output).toContain("/webhooks/second");
  const answer = post(`${script.url()}/webhooks/onPush`);
  await expect.poll(script.output, poll).toContain("working");
  script.child.kill("SIGTERM");
  expect(await (await answer).json()).toEqual({ repo: "ada/tide-tables" });
  expect(await script.exited).toBe(0);
});

it.concurrent("the shared receiver starts although something else keeps the process alive", async ({ expect }) => {
  await using script = runScript(`
    import { webhook } from "@keyhook/receiver";
    setInterval(() => undefined, 1_000);
    webhook(function onPush() {});
  `);
  await expect.poll(script.url, poll).toBeDefined();
  expect((await post(`${script.url()}/webhooks/onPush`)).status).toBe(200);
});

it.concurrent("the shared receiver does not start by itself if the script mounts or launches it", async ({ expect }) => {
  await using mounted = runScript(`
    import { sharedReceiver, webhook } from "@keyhook/receiver";
    webhook(function onPush() {});
    const { status } = await sharedReceiver().fetch(new Request("http://x/webhooks/onPush"));
    console.log("answered", status);
  `);
  expect(await mounted.exited).toBe(0);
  expect(mounted.output()).toContain("answered 405");
  expect(mounted.output()).not.toContain("received at");
  await using byHand = runScript(
    `
    import { launch, webhook } from "@keyhook/receiver";
    webhook(function onPush() {});
    const { url } = await launch({ port: 0 });
    console.log((await fetch(url + "/health")).status);
  `,
    { PORT: "1" },
  );
  await expect.poll(byHand.output, poll).toContain("\n200\n");
  expect(byHand.output().match(/Webhooks are received at/g)).toHaveLength(1);
});
