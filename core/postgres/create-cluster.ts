import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { PostgresBinaries } from "./binaries.ts";
import type { ServerUser } from "./server-user.ts";

/** The bootstrap superuser; the service itself connects as an ordinary role (`prepareDatabase`). */
export const SUPERUSER = "postgres";

/**
 * Creates a cluster, unless it exists. It is created beside its final path and moved there when complete, so that an interrupted start
 * leaves nothing that looks like a cluster.
 */
export async function createCluster(
  cluster: string,
  password: string,
  { binaries, user, isDurable }: { binaries: PostgresBinaries; user: ServerUser; isDurable: boolean },
): Promise<void> {
  if (existsSync(cluster)) return;
  const unfinished = `${cluster}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  const passwordDir = mkdtempSync(join(tmpdir(), "keyhook-initdb-"));
  const passwordFile = join(passwordDir, "password");
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (user.owner) for (const path of [unfinished, passwordDir, passwordFile]) chownSync(path, user.owner.uid, user.owner.gid);
    const args = [
      `--pgdata=${unfinished}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // The server's own C.UTF-8: the same sort order on every machine, whatever locales it has.
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
      "--no-instructions",
    ];
    if (!isDurable) args.push("--no-sync");
    const child = user.spawn(binaries.initdb, args, { stdio: ["ignore", "pipe", "pipe"] });
    const [output, problems, [code]] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, "close"),
    ]);
    if (code !== 0)
      throw new Error(`the database could not be created (initdb ended with ${code}):\n${output}${problems}`.trim());
    renameSync(unfinished, cluster);
  } finally {
    rmSync(passwordDir, { recursive: true, force: true });
  }
}
