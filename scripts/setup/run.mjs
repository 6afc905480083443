import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** What the person at the terminal can do something about. */
export class SetupFailed extends Error {}

/**
 * Runs a program of the project, on the project's Node, silently; what it said is shown when it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} [environment]
 */
export function run(command, args, environment = {}) {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: {
      ...process.env,
      PATH: [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter),
      NEXT_TELEMETRY_DISABLED: "1",
      CHECKPOINT_DISABLE: "1",
      ...environment,
    },
  });
  if (status === 0) return stdout.trim();
  const reason = error ? error.message : `it ended with ${signal ?? status}`;
  throw new SetupFailed(`${[command, ...args].join(" ")} failed: ${reason}\n${stdout ?? ""}${stderr ?? ""}`.trimEnd());
}

/** Whether a program runs here. */
export function works(command, args = ["--version"]) {
  return spawnSync(command, args, { stdio: "ignore", timeout: 20_000 }).status === 0;
}
