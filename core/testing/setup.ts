import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, vi } from "vitest";
import { provideSettings } from "../env.ts";
import { SECRET_KEY } from "./secret-key.ts";

const dataDir = mkdtempSync(join(tmpdir(), "keyhook-test-"));

provideSettings({
  NODE_ENV: "test",
  DATA_DIR: dataDir,
  SECRET_KEY,
  ORIGIN: "http://localhost:3000",
  LOG_LEVEL: "silent",
  ANONYMOUS_ADDRESS_PERCENT: "100",
});

const { waitFor } = vi;
vi.waitFor = (callback, options) => waitFor(callback, options ?? { timeout: 10_000 });

const environment = { ...process.env };

// If files share a thread, the next file must get fresh modules.
afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
  Object.assign(process.env, environment);
  for (const name of Object.keys(globalThis)) if (name.startsWith("keyhook")) Reflect.deleteProperty(globalThis, name);
  vi.resetModules();
});
