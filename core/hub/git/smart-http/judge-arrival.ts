import { join } from "node:path";
import { GitFailed, runGit } from "../run-git.ts";
import type { Arrival } from "./hook-channel.ts";
import type { Command } from "./read-commands.ts";
import { fileMaxBytes, unpackedMaxBytes } from "./transfer-settings.ts";

const MIB = 1024 * 1024;
const NAMES_MAX_BYTES = 64 * MIB;

export type Verdict = { reason: string; messages: string[] };

/** Whether a push that has arrived is larger inside than it may be (S137); undefined when it may go on. */
export async function judgeArrival(path: string, arrival: Arrival, commands: readonly Command[]): Promise<Verdict | undefined> {
  if (arrival.isUnreadable) return { reason: "the objects could not be read", messages: [] };
  if (arrival.unpackedBytes > unpackedMaxBytes()) {
    const most = `${Math.floor(unpackedMaxBytes() / MIB)} MiB`;
    return { reason: "too large", messages: [`This push unpacks to more than ${most}. Send it in several pushes.`] };
  }
  if (arrival.large.length === 0) return undefined;
  const names = await namesOf(path, arrival, commands);
  const most = `${Math.floor(fileMaxBytes() / MIB)} MiB`;
  return {
    reason: "a file is too large",
    messages: [
      `Files in git may have at most ${most} here:`,
      ...arrival.large.map(({ oid, bytes }) => `  ${names.get(oid) ?? oid} (${(bytes / MIB).toFixed(1)} MiB)`),
      "Keep them in Git LFS: git lfs migrate import --include=<file> puts them there, in the commits too.",
    ],
  };
}

/** Where in the commits that were pushed these files are; those that cannot be found go by their id. */
async function namesOf(path: string, { large, quarantine }: Arrival, commands: readonly Command[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  if (!quarantine) return names;
  const tips = commands.flatMap(({ newSha }) => (newSha ? [newSha] : []));
  try {
    const output = await runGit(path, ["rev-list", "--objects", "--stdin"], {
      input: [...tips, "--not", "--all", ""].join("\n"),
      env: { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(path, "objects") },
      maxBytes: NAMES_MAX_BYTES,
      timeoutMs: 20_000,
    });
    const wanted = new Set(large.map(({ oid }) => oid));
    for (const line of output.toString("utf8").split("\n")) {
      const oid = line.slice(0, 40);
      if (wanted.has(oid) && line.length > 41)
        names.set(
          oid,
          line
            .slice(41)
            .replace(/\p{Cc}/gu, "?")
            .slice(0, 200),
        );
    }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
  }
  return names;
}
