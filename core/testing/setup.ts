import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, inject, vi } from "vitest";
import { closeConnections } from "../db.ts";
import { provideSettings, testServerUrl } from "../env.ts";
import { asService, dropDatabase, recreateDatabase } from "./database.ts";
import { secondConnections } from "./second-connections.ts";

// Runs before each test file: its own database, data directory and settings, so that files neither meet nor depend on order.
const dataDir = mkdtempSync(join(tmpdir(), "keyhook-test-"));
const database = `keyhook_test_${process.pid}`;
const databaseUrl = await recreateDatabase(inject("serverUrl"), database, inject("template"));

provideSettings({
  NODE_ENV: "test",
  DATABASE_URL: asService(databaseUrl),
  DATABASE_OWNER_URL: databaseUrl,
  DATA_DIR: dataDir,
  SECRET_KEY: "a secret key for tests, of no use anywhere else",
  ORIGIN: "http://localhost:3000",
  LOG_LEVEL: "silent",
  // Tests keep a process busy, and most of their clients share an address.
  ANONYMOUS_ADDRESS_PERCENT: "100",
});

// A second, as Vitest has it, is not what "soon" takes on a machine that runs other things too. What comes sooner is seen sooner.
const { waitFor } = vi;
vi.waitFor = (callback, options) => waitFor(callback, options ?? { timeout: 10_000 });

// Also where the error was caught on its way.
afterEach(() => expect(secondConnections(), "asked the pool for a second connection in a transaction").toEqual([]));

afterAll(async () => {
  await closeConnections();
  // Dropping makes the server write out everything, and there are hundreds: one that is thrown away keeps them to the end, given the room.
  const { bavail, bsize } = statfsSync(tmpdir());
  if (testServerUrl() || bavail * bsize < 10 * 1024 ** 3) await dropDatabase(inject("serverUrl"), database);
  rmSync(dataDir, { recursive: true, force: true });
});
