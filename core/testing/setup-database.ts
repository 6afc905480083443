import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, afterEach, expect, inject } from "vitest";
import { closeConnections } from "../db.ts";
import { provideSettings, testServerUrl } from "../env.ts";
import { stopListening } from "../notifications.ts";
import { flushUsage } from "../oauth/usage.ts";
import { closeDeliveryPool } from "../webhooks/delivery/delivery-pool.ts";
import { asService, dropDatabase, recreateDatabase } from "./database.ts";
import { secondConnections } from "./second-connections.ts";

// Runs before each test file that may ask a database: one of its own.
const database = `keyhook_test_${process.pid}_${Date.now()}`;
const databaseUrl = await recreateDatabase(inject("serverUrl"), database, inject("template"));

provideSettings({ DATABASE_URL: asService(databaseUrl), DATABASE_OWNER_URL: databaseUrl });

// Also where the error was caught on its way.
afterEach(() => expect(secondConnections(), "asked the pool for a second connection in a transaction").toEqual([]));

afterAll(async () => {
  // What is written down some seconds later would be written into the next file's database, and be counted there.
  await flushUsage();
  await stopListening();
  await closeDeliveryPool();
  await closeConnections();
  // What this file's modules do from now on, such as writing down what they have counted, must not connect in the name of the next one.
  provideSettings({ DATABASE_URL: "" });
  // Dropping makes the server write out everything, and there are hundreds: one that is thrown away keeps them to the end, given the room.
  const { bavail, bsize } = statfsSync(tmpdir());
  if (testServerUrl() || bavail * bsize < 10 * 1024 ** 3) await dropDatabase(inject("serverUrl"), database);
});
