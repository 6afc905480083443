import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Runs a tool of the project at the terminal and returns its exit status. */
export async function runTool(name: string, args: string[], environment: Record<string, string> = {}): Promise<number> {
  const bin = join(root, "node_modules/.bin");
  const child = spawn(join(bin, name), args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, PATH: [bin, process.env.PATH].join(delimiter), ...environment },
  });
  const [code] = await once(child, "exit");
  return code ?? 1;
}
