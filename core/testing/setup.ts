import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, vi } from "vitest";
import { provideSettings } from "../env.ts";

// Runs before each test file: its own data directory and settings, so that files neither meet nor depend on order.
const dataDir = mkdtempSync(join(tmpdir(), "keyhook-test-"));

provideSettings({
  NODE_ENV: "test",
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

const environment = { ...process.env };

// Where files share a thread, the next one meets no module of the project with what it remembers, and no setting of this one.
afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
  Object.assign(process.env, environment);
  for (const name of Object.keys(globalThis)) if (name.startsWith("keyhook")) Reflect.deleteProperty(globalThis, name);
  vi.resetModules();
});
