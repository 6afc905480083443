import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export class SetupFailed extends Error {}

/**
 * Shows the program's output only if it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} [environment]
 * @throws {SetupFailed}
 */
export async function run(command, args, environment = {}) {
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      PATH: [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter),
      NEXT_TELEMETRY_DISABLED: "1",
      CHECKPOINT_DISABLE: "1",
      ...environment,
    },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (printed += text));
  const reason = await once(child, "close").then(
    ([status, signal]) => (status === 0 ? undefined : `it ended with ${signal ?? status}`),
    (error) => error.message,
  );
  if (reason) throw new SetupFailed(`${[command, ...args].join(" ")} failed: ${reason}\n${printed}`.trimEnd());
}

/**
 * At a terminal, the line also shows the seconds so far.
 * @param {string} line
 * @param {() => Promise<void>} work
 */
export async function report(line, work) {
  const out = process.stderr;
  if (!out.isTTY) {
    out.write(`setup: ${line}\n`);
    return work();
  }
  const start = Date.now();
  const show = (sign, end) => out.write(`\r${sign} ${line}  ${((Date.now() - start) / 1_000).toFixed(0)} s${end}`);
  show("…", "");
  const timer = setInterval(show, 1_000, "…", "");
  try {
    await work();
    show("✓", "\n");
  } catch (error) {
    show("✗", "\n");
    throw error;
  } finally {
    clearInterval(timer);
  }
}

export function works(command, args = ["--version"]) {
  return spawnSync(command, args, { stdio: "ignore", timeout: 20_000 }).status === 0;
}
