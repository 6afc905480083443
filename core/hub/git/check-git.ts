import { tmpdir } from "node:os";
import { SettingsError } from "../../env.ts";
import { runGit } from "./run-git.ts";

/** Older versions cannot merge without a work tree. */
const GIT_MIN_VERSION = "2.38";

export async function checkGit(): Promise<string> {
  const output = await runGit(tmpdir(), ["version"]).catch((cause: unknown) => {
    throw new SettingsError(`git cannot be run: ${(cause as Error).message}. Install git ${GIT_MIN_VERSION} or later.`, {
      cause,
    });
  });
  const version = /(?<!\d)\d+\.\d+(\.\d+)*/.exec(output.toString("utf8"))?.[0] ?? "0";
  if (!isAtLeast(version, GIT_MIN_VERSION)) {
    throw new SettingsError(`git ${version} is too old. Install git ${GIT_MIN_VERSION} or later.`);
  }
  return version;
}

export function isAtLeast(version: string, least: string): boolean {
  const [given, wanted] = [version, least].map((text) => text.split(".").map(Number));
  for (const [at, number] of (wanted ?? []).entries()) {
    const difference = (given?.[at] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
