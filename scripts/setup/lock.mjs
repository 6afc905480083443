import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { root } from "./run.mjs";

const file = join(root, ".setup-lock");

/** Two services may be started together. Returns the release function. */
export async function holdLock(isQuiet) {
  for (let waited = false; ; waited = true) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const holder = readHolder();
    if (holder !== undefined && !isAlive(holder)) rmSync(file, { force: true });
    else if (!waited && !isQuiet) console.error(`setup: waiting for another setup (process ${holder ?? "unknown"})`);
    await delay(200);
  }
  const release = () => rmSync(file, { force: true });
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ])
    process.on(signal, () => {
      release();
      process.exit(code);
    });
  return release;
}

function readHolder() {
  try {
    return Number(readFileSync(file, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
