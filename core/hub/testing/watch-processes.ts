import type { ChildProcess, ChildProcessWithoutNullStreams } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { GitLauncher } from "../git/git-launcher.ts";
import type { ObjectReader } from "../git/read/object-reader.ts";

const keeper = globalThis as {
  keyhookGitLauncher?: GitLauncher | undefined;
  keyhookIdleReaders?: Set<{ reader: ObjectReader }>;
};

/**
 * Starts git without the launcher, whose processes would be invisible.
 * @returns a function that stops watching
 */
export function watchProcesses(created: (child: ChildProcessWithoutNullStreams) => void): () => void {
  const launcher = keeper.keyhookGitLauncher;
  keeper.keyhookGitLauncher = undefined;
  for (const { reader } of keeper.keyhookIdleReaders ?? []) reader.end(new Error("a test watches processes"));
  const watch = (message: unknown) => created((message as { process: ChildProcess }).process as ChildProcessWithoutNullStreams);
  subscribe("child_process", watch);
  return () => {
    unsubscribe("child_process", watch);
    keeper.keyhookGitLauncher = launcher;
  };
}
