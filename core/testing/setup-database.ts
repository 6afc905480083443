import { afterAll, afterEach, expect, inject } from "vitest";
import { closeConnections } from "../db.ts";
import { provideSettings } from "../env.ts";
import { GitLauncher } from "../hub/git/git-launcher.ts";
import { stopListening } from "../notifications.ts";
import { flushUsage } from "../oauth/apps/count-usage.ts";
import { closeDeliveryPool } from "../webhooks/delivery/delivery-pool.ts";
import { asService, dropDatabase, recreateDatabase } from "./database.ts";
import { secondConnections } from "./second-connections.ts";

const database = `keyhook_test_${process.pid}_${Date.now()}`;
const databaseUrl = await recreateDatabase(inject("serverUrl"), database, inject("template"));

provideSettings({ DATABASE_URL: asService(databaseUrl), DATABASE_OWNER_URL: databaseUrl });

// A large process takes long to start git (docs/decisions/080).
const worker = globalThis as { gitLauncherOfWorker?: GitLauncher | undefined; keyhookGitLauncher?: GitLauncher };
if (!worker.gitLauncherOfWorker) {
  const launcher = await GitLauncher.start(() => {
    worker.gitLauncherOfWorker = undefined;
  });
  worker.gitLauncherOfWorker = launcher;
  process.once("exit", () => launcher.stop());
}
worker.keyhookGitLauncher = worker.gitLauncherOfWorker;

// Fails the test even if the test caught the error.
afterEach(() => expect(secondConnections(), "asked the pool for a second connection in a transaction").toEqual([]));

afterAll(async () => {
  // Usage that is not flushed would be written into the next file's database.
  await flushUsage();
  await stopListening();
  await closeDeliveryPool();
  await closeConnections();
  // Later actions of this file's modules must not use the next file's database.
  provideSettings({ DATABASE_URL: "" });
  await dropDatabase(inject("serverUrl"), database);
});
