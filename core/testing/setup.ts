import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, vi } from "vitest";
import { provideSettings } from "../env.ts";
import { SECRET_KEY } from "./secret-key.ts";

// Runs before each test file: sets its own data directory and settings, so that files are independent of each other and their order.
const dataDir = mkdtempSync(join(tmpdir(), "keyhook-test-"));

provideSettings({
  NODE_ENV: "test",
  DATA_DIR: dataDir,
  SECRET_KEY,
  ORIGIN: "http://localhost:3000",
  LOG_LEVEL: "silent",
  // Tests keep a process busy, and most of their clients share an address.
  ANONYMOUS_ADDRESS_PERCENT: "100",
});

// Vitest's default of a second is too short on a busy machine. A longer timeout does not delay results that come sooner.
const { waitFor } = vi;
vi.waitFor = (callback, options) => waitFor(callback, options ?? { timeout: 10_000 });

const environment = { ...process.env };

// If files share a thread, the next one must get fresh modules and none of this file's settings.
afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
  Object.assign(process.env, environment);
  for (const name of Object.keys(globalThis)) if (name.startsWith("keyhook")) Reflect.deleteProperty(globalThis, name);
  vi.resetModules();
});
