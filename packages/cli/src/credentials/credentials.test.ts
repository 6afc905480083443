import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { newConfigDir } from "../../testing/run-cli.ts";
import { credentialsPath, readCredentialsFile, writeCredentialsFile } from "./credentials-file.ts";
import { withFileLock } from "./stored-token.ts";

const ORIGIN = "https://hub.example.com";
const sample = { [ORIGIN]: { accessToken: "kh_x", refreshToken: "r", expiresAt: "2026-11-22T00:00:00.000Z" } };
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("the file of credentials", () => {
  test("can be read only by its user, and its folder contains nothing else", async () => {
    const dir = join(newConfigDir(), "keyhook");
    const path = join(dir, "credentials.json");
    expect(await readCredentialsFile(path)).toEqual({});
    await writeCredentialsFile(path, sample);
    expect([mode(dir), mode(path)]).toEqual(["700", "600"]);
    expect(await readCredentialsFile(path)).toEqual(sample);
    chmodSync(path, 0o644);
    await writeCredentialsFile(path, sample);
    expect([mode(path), readdirSync(dir)]).toEqual(["600", ["credentials.json"]]);
  });

  test("is in the system's settings folder, or in KEYHOOK_CONFIG_DIR", () => {
    expect(credentialsPath({ env: { KEYHOOK_CONFIG_DIR: "/x" } })).toBe("/x/credentials.json");
    expect(credentialsPath({ env: {} })).toMatch(/keyhook.credentials\.json$/);
  });

  test("is named in the error and left unchanged if it is damaged", async () => {
    const path = join(newConfigDir(), "credentials.json");
    for (const text of ["", "{", "[]", "null", '{"https://x": {"accessToken": 1}}', '{"https://x": "y"}']) {
      writeFileSync(path, text);
      await expect(readCredentialsFile(path)).rejects.toThrow(
        `${path} is damaged. Delete it, and sign in again with keyhook login.`,
      );
      expect(readFileSync(path, "utf8")).toBe(text);
    }
  });

  test("causes an error if it cannot be written", async () => {
    const file = join(newConfigDir(), "file");
    writeFileSync(file, "");
    await expect(writeCredentialsFile(join(file, "credentials.json"), sample)).rejects.toThrow();
  });
});

describe("the lock", () => {
  test("admits one of many processes at a time", async () => {
    const dir = newConfigDir();
    const path = join(dir, "credentials.json");
    const counter = join(dir, "counter");
    writeFileSync(counter, "0");
    const script = `
      import { readFileSync, writeFileSync } from "node:fs";
      import { withFileLock } from ${JSON.stringify(join(import.meta.dirname, "stored-token.ts"))};
      for (let i = 0; i < 20; i += 1) {
        await withFileLock(${JSON.stringify(path)}, async () => {
          const seen = Number(readFileSync(${JSON.stringify(counter)}, "utf8"));
          await new Promise((done) => setImmediate(done));
          writeFileSync(${JSON.stringify(counter)}, String(seen + 1));
        });
      }`;
    const exits = Array.from({ length: 3 }, () => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "ignore", "inherit"] });
      return new Promise<number | null>((ended) => child.on("exit", ended));
    });
    expect(await Promise.all(exits)).toEqual([0, 0, 0]);
    expect(readFileSync(counter, "utf8")).toBe("60");
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test("does not wait for a process that has ended", async () => {
    const path = join(newConfigDir(), "credentials.json");
    const child = spawn(process.execPath, ["-e", ""]);
    await new Promise((ended) => child.on("exit", ended));
    writeFileSync(`${path}.lock`, String(child.pid));
    expect(await withFileLock(path, async () => "done")).toBe("done");
  });

  test("stays with a process that holds it for minutes", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const path = join(newConfigDir(), "credentials.json");
    const held = Promise.withResolvers<void>();
    const first = withFileLock(path, () => held.promise);
    while (vi.getTimerCount() === 0) await sleep(5);
    const minutesAgo = new Date(Date.now() - 120_000);
    utimesSync(`${path}.lock`, minutesAgo, minutesAgo);
    vi.advanceTimersByTime(60_000);
    await expect.poll(() => statSync(`${path}.lock`).mtimeMs).toBeGreaterThan(minutesAgo.getTime() + 60_000);
    const interrupt = new AbortController();
    const second = withFileLock(path, async () => "in", interrupt.signal);
    interrupt.abort();
    await expect(second).rejects.toThrow();
    held.resolve();
    await first;
  });

  test("is released when the work fails, and Ctrl-C ends the wait for the lock", async () => {
    const path = join(newConfigDir(), "deeper", "credentials.json");
    await expect(withFileLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    const interrupt = new AbortController();
    const held = Promise.withResolvers<void>();
    const first = withFileLock(path, () => held.promise);
    while (!existsSync(`${path}.lock`)) await sleep(5);
    const second = withFileLock(path, async () => "in", interrupt.signal);
    interrupt.abort();
    await expect(second).rejects.toThrow();
    held.resolve();
    await first;
    expect(await withFileLock(path, async () => "in")).toBe("in");
  });
});
