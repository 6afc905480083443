import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { asService, dropDatabase, recreateDatabase } from "./database.ts";
import { buildForTests, type RunningService, startService, stopService } from "./running-service.ts";
import { SECRET_KEY } from "./secret-key.ts";

declare module "vitest" {
  interface ProvidedContext {
    serviceAddress: string;
  }
}

export type SharedService = { origin: string; settings: Record<string, string>; output: string };

const SETTINGS = {
  SECRET_KEY,
  LOG_LEVEL: "trace",
  OUTBOUND_ALLOW_CIDRS: "127.0.0.1",
  JOBS_RUNNER: "unsandboxed",
  ANONYMOUS_ADDRESS_PERCENT: "100",
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { serverUrl, template } = project.getProvidedContext();
  const name = `keyhook_test_service_${process.pid}`;
  let starting: Promise<{ service: RunningService; settings: Record<string, string> }> | undefined;

  async function start() {
    await buildForTests();
    const url = await recreateDatabase(serverUrl, name, template);
    const given = { ...SETTINGS, DATABASE_URL: asService(url), DATABASE_OWNER_URL: url };
    const service = await startService(given);
    return { service, settings: { ...given, DATA_DIR: service.dataDir } };
  }

  const server = createServer((_, res) => {
    starting ??= start();
    starting.then(
      ({ service: { origin, output }, settings }) =>
        res.end(JSON.stringify({ origin, settings, output: output() } satisfies SharedService)),
      (error: unknown) => res.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  project.provide("serviceAddress", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    const started = await starting?.catch(() => undefined);
    if (!started) return;
    await stopService(started.service);
    await dropDatabase(serverUrl, name);
  };
}
