import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { childEnvironment } from "#core/env.ts";
import { freePort } from "#core/postgres/free-port.ts";

export type ServiceProcess = Awaited<ReturnType<typeof startProcess>>;

export async function startProcess(extra: Record<string, string> = {}) {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const child = fork(join(import.meta.dirname, "serve.ts"), {
    env: childEnvironment({ PORT: String(port), ORIGIN: origin, NODE_ENV: "production", LOG_LEVEL: "trace", ...extra }),
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
  const exited = once(child, "exit").then(([status]) => {
    throw new Error(`the process ended with ${status}: ${output}`);
  });
  await Promise.race([once(child, "message"), exited]);
  exited.catch(() => undefined);
  return {
    origin,
    pid: child.pid as number,
    output: () => output,
    async stop(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill();
      await once(child, "exit");
    },
  };
}
