import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Page } from "@playwright/test";
import { Webhook } from "standardwebhooks";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { enter } from "./support/enter.ts";
import { makeTree } from "./support/git-repository.ts";
import { hubClient } from "./support/hub.ts";

const PROGRAM = `
import { createReceiver } from "@keyhook/receiver";
const receiver = createReceiver();
receiver.on("push", (payload, { rawBody, headers }) => {
  const text = new TextDecoder().decode(rawBody);
  console.log(JSON.stringify({ kind: "event", text, headers: Object.fromEntries(headers) }));
  return new Response("noted", { status: 218 });
});
const { relayUrl } = await receiver.launch({ port: 0, relay: { name: "laptop" } });
console.log(JSON.stringify({ kind: "open", url: relayUrl }));
`;

type Printed = { kind: string; url?: string; text?: string; headers?: Record<string, string> };

class Program implements AsyncDisposable {
  readonly #earlier: string[] = [];
  // A directory from which Node finds the packages of the workspace.
  readonly #directory = mkdtempSync(resolve(import.meta.dirname, "../node_modules/.relay-"));
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  #text = "";

  constructor(env: Record<string, string>) {
    this.#env = env;
    writeFileSync(`${this.#directory}/program.mjs`, PROGRAM);
  }

  start(): void {
    const env = { ...process.env, ...this.#env };
    const child = spawn(process.execPath, [`${this.#directory}/program.mjs`], { env, stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    this.#text = "";
    child.stdout.on("data", (piece) => {
      this.#text += piece;
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#earlier.push(this.#text);
    this.#text = "";
    if (!child || child.exitCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  of(kind: string): Printed[] {
    const lines = [...this.#earlier, this.#text].flatMap((text) => text.split("\n").slice(0, -1));
    const said = lines.filter((line) => line.startsWith("{")).map((line): Printed => JSON.parse(line));
    return said.filter((one) => one.kind === kind);
  }

  get text(): string {
    return this.#text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

const rows = (page: Page) => page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");

test("S141 a push reaches a program without a public URL, even later, and Activity shows the program's response", async ({
  page,
  demo,
  person,
}) => {
  test.slow();
  const { name, tree, push } = await makeTree(demo, person);
  const hub = await hubClient(demo, person, "webhooks");
  await enter(page, person);
  await page.goto("/settings/webhooks");
  await expect(page.getByRole("region", { name: "Relays" })).toContainText("No relays yet.");

  await using program = new Program({ KEYHOOK_URL: demo.origin, KEYHOOK_TOKEN: hub.token });
  program.start();
  await expect.poll(() => program.of("open").length).toBe(1);
  const url = `${program.of("open")[0]?.url?.replace(/\/$/, "")}/webhooks/push`;
  const { webhook, secret } = await hub.send<{ webhook: { id: string }; secret: string }>("POST", "/api/settings/webhooks", {
    url,
    watched: [{ type: "model", name }],
    generateSecret: true,
  });
  await push("high");
  const told = (text: string) =>
    program.of("event").filter((one) => one.text?.includes('"repo.content"') && one.text.includes(text));
  await expect.poll(() => told(name).length).toBe(1);
  const [first] = told(name);
  new Webhook(secret).verify(first?.text ?? "", first?.headers ?? {});

  await page.goto(`/settings/webhooks/${webhook.id}`);
  await expect(rows(page).filter({ hasText: "218" })).toHaveCount(1);

  await program.kill();
  await push("low");
  await expect(rows(page).filter({ hasText: "202" })).toHaveCount(1);
  await page.goto("/settings/webhooks");
  const relays = page.getByRole("region", { name: "Relays" });
  await expect(relays).toContainText("Not listening");
  await expect(relays).toContainText("1 waiting request");
  await expectAccessible(page);

  program.start();
  await expect.poll(() => told(name).length).toBe(2);
  const second = told(name)[1];
  new Webhook(secret).verify(second?.text ?? "", second?.headers ?? {});
  await page.goto(`/settings/webhooks/${webhook.id}`);
  await expect(rows(page).filter({ hasText: "218" })).toHaveCount(2);
  await rows(page).first().getByRole("link").click();
  const panel = page.getByRole("complementary", { name: /^[a-z]+(\.[a-z]+)+$/ });
  await expect(panel).toContainText("response through the relay");
  await expect(panel).toContainText("noted");

  await page.goto("/settings/webhooks");
  await relays.getByText("Close", { exact: true }).click();
  await relays.getByRole("button", { name: "Close laptop" }).click();
  await expect(page.getByText("Relay closed.")).toBeVisible();
  await expect.poll(() => program.text).toContain("The relay was closed");
  tree.remove();
});
