import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { lockDataDir } from "./data-dir.ts";

const directory = () => mkdtempSync(join(tmpdir(), "keyhook-lock-"));

async function otherProcess(dataDir: string, holder: string): Promise<{ pid: number; kill(): Promise<void> }> {
  const file = JSON.stringify(join(import.meta.dirname, "data-dir.ts"));
  const code = `await (await import(${file})).lockDataDir(${JSON.stringify(dataDir)}, "${holder}"); console.log("held"); setInterval(() => {}, 1e6)`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  onTestFinished(kill);
  await once(child.stdout, "data");
  return { pid: child.pid as number, kill };
}

describe("lockDataDir", () => {
  it("refuses a second service on one data directory, and says which process holds its lock", async () => {
    const dataDir = directory();
    const { pid } = await otherProcess(dataDir, "service");
    await expect(lockDataDir(dataDir, "service")).rejects.toThrow(`already running on ${dataDir} (process ${pid})`);
  });

  it("releases the lock when its process ends, however the process ends", async () => {
    const dataDir = directory();
    const other = await otherProcess(dataDir, "service");
    await other.kill();
    const lock = await lockDataDir(dataDir, "service");
    expect(lock).toBeDefined();
    lock?.release();
  });

  it("gives a command no lock while a service runs", async () => {
    const dataDir = directory();
    const lock = await lockDataDir(dataDir, "service");
    expect(await lockDataDir(dataDir, "command")).toBeUndefined();
    lock?.release();
  });

  it("makes a service and a command wait until another command has finished", async () => {
    const dataDir = directory();
    for (const next of ["service", "command"] as const) {
      const command = await lockDataDir(dataDir, "command");
      let isTaken = false;
      const waiting = lockDataDir(dataDir, next).then((lock) => {
        isTaken = true;
        return lock;
      });
      await new Promise((later) => setTimeout(later, 300));
      expect(isTaken).toBe(false);
      command?.release();
      (await waiting)?.release();
      expect(isTaken).toBe(true);
    }
  });

  it("keeps two data directories apart", async () => {
    const locks = [await lockDataDir(directory(), "service"), await lockDataDir(directory(), "service")];
    expect(locks).not.toContain(undefined);
    for (const lock of locks) lock?.release();
  });
});
