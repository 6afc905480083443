import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Caller, someCaller } from "../../../api/testing/hub-caller.ts";
import { startCliWorld, startDeliveries, startReceiver } from "../testing/cli-world.ts";
import { type RunOptions, runCli } from "../testing/run-cli.ts";

let world: Awaited<ReturnType<typeof startCliWorld>>;
let ada: Caller;
beforeAll(async () => {
  world = await startCliWorld();
  ada = await someCaller("webhooks");
});
afterAll(() => world.stop());

const SOON = { timeout: 20_000 };

const keyhook = (argv: string[], options: RunOptions = {}) =>
  runCli(["webhooks", ...argv], { ...options, env: { KEYHOOK_URL: world.origin, KEYHOOK_TOKEN: ada.accessToken } });

function listen(argv: string[]) {
  const interrupt = new AbortController();
  const seen = { text: "" };
  const running = keyhook(["listen", ...argv], {
    signal: interrupt.signal,
    onOutput: (text) => {
      seen.text += text;
    },
  });
  const says = (what: string | RegExp) => vi.waitFor(() => expect(seen.text).toMatch(what), SOON);
  const stop = () => {
    interrupt.abort();
    return running;
  };
  return { seen, says, stop, running };
}

test("with --watch the command forwards the deliveries of a new webhook, and deletes that webhook at the end", async () => {
  let status = 202;
  const receiver = await startReceiver(() => status);
  await startDeliveries();
  const session = listen(["--forward-to", receiver.url, "--watch", `user:${ada.username}`]);
  await session.says(/Listening: /);
  const [, id = ""] = /Webhook (\w+) created; .* Its signing secret: whsec_\S+/.exec(session.seen.text) ?? [];
  expect(id).toMatch(/^[0-9a-f]{24}$/);
  const sent = await keyhook(["test", id, "--event", "discussion.create", "--json"]);
  expect(JSON.parse(sent.stdout), sent.stderr).toMatchObject({ outcome: "delivered", status: 202 });
  expect(receiver.received[0]?.headers).toMatchObject({ "x-webhook-test": "true", "webhook-signature": expect.any(String) });
  await session.says(/\tPOST\t\S+\tdiscussion\.create \S+\t202\t\d+\n/);
  status = 500;
  expect((await keyhook(["test", id])).code).toBe(1);
  await session.says(/\t500\t\d+\n/);
  const { code, stdout } = await session.stop();
  expect([code, stdout.split("\n")[0]]).toEqual([0, "delivery\ttime\tmethod\tpath\tevent\tstatus\tms"]);
  expect(session.seen.text).toContain(`Webhook ${id} deleted.`);
  expect((await keyhook(["ls"])).stdout).toBe("No results found.\n");
});

test("with --watch and --name, the command keeps the relay at the end", async () => {
  const session = listen(["--forward-to", "http://127.0.0.1:9", "--watch", `user:${ada.username}`, "--name", "mine"]);
  await session.says(/Listening: /);
  expect((await session.stop()).code).toBe(0);
  expect(session.seen.text).toMatch(/Webhook \w+ deleted\./);
  const headers = { authorization: `Bearer ${ada.accessToken}` };
  expect((await fetch(`${world.origin}/api/settings/relays/mine`, { headers })).status).toBe(200);
});

test("with --webhook the command asks before it changes the webhook's URL, and says how to undo the change", async () => {
  const receiver = await startReceiver();
  const HOOK = "https://hooks.example.com/events";
  const made = await keyhook(["create", "--url", HOOK, "--watch", `user:${ada.username}`, "-q"]);
  const id = made.stdout.trim();
  const refused = await keyhook(["listen", "--forward-to", receiver.url, "--webhook", id]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--yes") });
  const session = listen(["--forward-to", receiver.url, "--webhook", id, "--yes"]);
  await session.says(/Listening: /);
  expect(session.seen.text).toContain(`keyhook webhooks update ${id} --url '${HOOK}'`);
  const { url } = JSON.parse((await keyhook(["info", id])).stdout);
  expect(url).toContain(`${world.origin}/relay/`);
  expect((await session.stop()).code).toBe(0);
  const again = listen(["--forward-to", receiver.url, "--webhook", id]);
  await again.says(/Listening: /);
  expect((await again.stop()).code).toBe(0);
  expect((await keyhook(["delete", id, "-y"])).code).toBe(0);
});

test("a webhook with a secret can be pointed to this machine and back only with that secret", async () => {
  const receiver = await startReceiver();
  const watched = ["--watch", `user:${ada.username}`, "--secret", "shared"];
  const id = (await keyhook(["create", "--url", "https://hooks.example.com/", ...watched, "-q"])).stdout.trim();
  const here = ["--forward-to", receiver.url, "--webhook", id, "--yes"];
  expect(await keyhook(["listen", ...here])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Enter the current secret again"),
  });
  const session = listen([...here, "--secret", "shared"]);
  await session.says(/Listening: /);
  expect(session.seen.text).toContain("https://hooks.example.com/' --secret -");
  expect((await session.stop()).code).toBe(0);
});

test("the command refuses wrong options and an invalid relay name", async () => {
  const bad = [[], ["--forward-to", "localhost:3000"], ["--forward-to", "http://x", "--webhook", "a", "--watch", "user:a"]];
  for (const argv of bad) expect((await keyhook(["listen", ...argv])).code).toBe(2);
  const refused = await keyhook(["listen", "--forward-to", "http://127.0.0.1:9/", "--name", "NO SUCH NAME"]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
});
