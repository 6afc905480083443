import { hash } from "node:crypto";
import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { databaseUrl } from "./env.ts";
import { log } from "./log.ts";

/** Several services may share a machine. */
export const serviceMark = (): string => hash("sha256", databaseUrl(), "hex").slice(0, 8);

/** No task takes nearly this long. */
const LEFT_AFTER_MS = 24 * 60 * 60_000;
const SWEEP_EVERY_MS = 60 * 60_000;

/** The name has the service's mark, by which the folder is found after a kill. */
export const makeTemporaryFolder = (kind: "merge" | "fetch" | "payload"): Promise<string> =>
  mkdtemp(join(tmpdir(), `keyhook-${kind}-${serviceMark()}-`));

export async function sweepTemporaryFolders(): Promise<void> {
  const ours = new RegExp(`^keyhook-(?:merge|fetch|payload)-${serviceMark()}-[^-]+$`);
  for (const name of (await readdir(tmpdir())).filter((name) => ours.test(name))) {
    const path = join(tmpdir(), name);
    const found = await lstat(path).catch(() => undefined); // gone meanwhile
    if (found && Date.now() - found.mtimeMs > LEFT_AFTER_MS) await rm(path, { recursive: true, force: true });
  }
}

export function keepSweepingTemporaryFolders(): void {
  const sweep = () =>
    sweepTemporaryFolders().catch((error: unknown) => log().warn({ err: error }, "cannot sweep temporary folders; trying again"));
  void sweep();
  setInterval(sweep, SWEEP_EVERY_MS).unref();
}
