import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { freePort } from "../postgres/free-port.ts";
import { type DocumentSite, startDocumentSite } from "./testing/document-site.ts";
import { prepare } from "./testing/sign-in.ts";
import { startWorld } from "./testing/world.ts";

const world = await startWorld();
const sites: DocumentSite[] = [];
afterAll(async () => {
  await world.stop();
  for (const site of sites) await site.stop();
});

type Check = { id: string; status: string; errorMessage?: string };

const SUITE = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/conformance/dist/index.js");

async function runSuite(clientId: string, extra: string[]): Promise<{ exitCode: number; checks: Check[]; output: string }> {
  const port = await freePort();
  const { browser, session } = await prepare(world);
  const resultsDir = mkdtempSync(join(tmpdir(), "keyhook-conformance-"));
  const parameters = ["--url", world.origin, "--client-id", clientId, "--port", String(port), "-o", resultsDir, ...extra];
  const child = spawn(process.execPath, [SUITE, "authorization", ...parameters]);
  let output = "";
  let visit: Promise<unknown> | undefined;
  child.stderr.on("data", (chunk) => (output += chunk));
  child.stdout.on("data", (chunk) => {
    output += chunk;
    const [url] = new RegExp(`${world.origin}/oauth/authorize\\?\\S+(?=\\s)`).exec(output) ?? [];
    if (url) visit ??= world.follow(browser, url, session).then((landed) => fetch(landed as URL));
  });
  const [exitCode] = await once(child, "exit");
  await visit;
  const files = readdirSync(resultsDir, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith("checks.json"));
  const checks = files.flatMap((file) => JSON.parse(readFileSync(join(resultsDir, file), "utf8")) as Check[]);
  rmSync(resultsDir, { recursive: true });
  return { exitCode, checks, output };
}

const redirectUris = ["http://127.0.0.1/callback"];

const clients = {
  "an app": async () => (await prepare(world, { redirectUris })).app.clientId,
  "a metadata document": async () => {
    const site = await startDocumentSite({ redirect_uris: redirectUris });
    sites.push(site);
    return site.clientId;
  },
};

describe("MCP conformance, authorization server", () => {
  test.each<[keyof typeof clients, string, () => string[]]>([
    ["an app", "without options", () => []],
    ["an app", "with our API as the resource", () => ["--resource", world.origin]],
    ["a metadata document", "with our API as the resource", () => ["--resource", world.origin]],
  ])("%s, %s", { timeout: 60_000 }, async (client, _, extra) => {
    const { exitCode, checks, output } = await runSuite(await clients[client](), extra());
    const statuses = Object.fromEntries(checks.map(({ id, status }) => [id, status]));
    expect(statuses, output).toMatchObject({
      "authorization-server-metadata": "SUCCESS",
      "authorization-server-metadata-cimd": "SUCCESS",
      "authorization-code-grant": "SUCCESS",
    });
    expect(
      checks.filter(({ status }) => status !== "SUCCESS"),
      output,
    ).toEqual([]);
    expect(exitCode, output).toBe(0);
  });
});
