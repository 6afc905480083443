import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dirname;

export function runScript(source: string, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(HERE, "script-"));
  const path = join(folder, "script.mts");
  writeFileSync(path, source.replaceAll("@keyhook/receiver", join(HERE, "../index.ts")));
  const { VITEST: _, WEBHOOK_SECRET: __, ...inherited } = process.env;
  const child = spawn(process.execPath, [path], { env: { ...inherited, PORT: "0", ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return {
    child,
    exited,
    output: () => output,
    url: () => /POST (http:\S+)\/webhooks\//.exec(output)?.[1],
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
