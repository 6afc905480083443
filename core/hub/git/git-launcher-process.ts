import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { setPriority } from "node:os";
import type { Asked, Told } from "./git-launcher.ts";

/** The program of `GitLauncher`, which says why there is one. */

const socketPath = process.argv[2] as string;
const running = new Map<string, { kill(signal?: NodeJS.Signals): void }>();
const tell = (what: Told) => process.connected && process.send?.(what);

process.on("message", (asked: Asked) => {
  if ("kill" in asked) running.get(asked.id)?.kill(asked.kill);
  else launch(asked).catch((error: Error) => tell({ id: asked.id, failure: error.message }));
});
// Whoever stops the service tells the web process, which finishes what it does.
process.on("SIGINT", () => undefined).on("SIGTERM", () => undefined);
// Nobody is left to read what they find out.
process.once("disconnect", () => {
  for (const child of running.values()) child.kill("SIGKILL");
  process.exit();
});

async function launch({ id, command, args, cwd, env, niceness }: Extract<Asked, { command: string }>): Promise<void> {
  const streams = await Promise.all([0, 1, 2].map((number) => connected(`${id} ${number}\n`)));
  try {
    const child = spawn(command, args, { cwd, env, stdio: streams });
    child.once("error", (error) => tell({ id, failure: error.message }));
    if (child.pid === undefined) return;
    if (niceness) lowerPriority(child.pid, niceness);
    running.set(id, child);
    child.once("exit", (status, signal) => {
      running.delete(id);
      tell({ id, status, signal });
    });
    tell({ id, pid: child.pid });
  } finally {
    // Git has its own copies now.
    for (const stream of streams) stream.destroy();
  }
}

/** A connection to the process that asked, which is told by the first line what it is for. What comes down it is for git alone. */
function connected(line: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath).pause();
    socket.once("error", reject);
    socket.write(line, () => resolve(socket));
  });
}

function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It may have ended already.
  }
}
