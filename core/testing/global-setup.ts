import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { testServerUrl } from "../env.ts";
import { startEmbedded } from "../postgres/embedded.ts";
import { dropDatabase } from "./database.ts";
import { createTemplate } from "./template.ts";

declare module "vitest" {
  interface ProvidedContext {
    serverUrl: string;
    template: string;
  }
}

type TestServer = { serverUrl: string; template: string; stop(): Promise<void> };

/** Each project loads this file separately. */
const run = globalThis as { keyhookTestServer?: { starting: Promise<TestServer>; projects: number } };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.keyhookTestServer ??= { starting: start(), projects: 0 };
  const shared = run.keyhookTestServer;
  shared.projects++;
  const { serverUrl, template, stop } = await shared.starting;
  project.provide("serverUrl", serverUrl);
  project.provide("template", template);
  return async () => {
    if (--shared.projects > 0) return;
    run.keyhookTestServer = undefined;
    await stop();
  };
}

async function start(): Promise<TestServer> {
  const given = testServerUrl();
  const dataDir = mkdtempSync(join(tmpdir(), "keyhook-test-"));
  const server = given ? undefined : await startEmbedded(dataDir, { isDurable: false });
  const serverUrl = given ?? (server?.superuserUrl as string);
  // `npm run mutants` has several test runs at once.
  const template = `keyhook_test_template_${process.pid}`;
  await createTemplate(serverUrl, template);
  const stop = async () => {
    if (given) await dropDatabase(given, template);
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { serverUrl, template, stop };
}
