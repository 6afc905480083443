import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";

const root = join(import.meta.dirname, "../..");
const bin = join(root, "node_modules/.bin");
// Tests start the service and its commands some three hundred times, and half of what a start takes is compiling the same modules.
const compiled = join(root, "node_modules/.cache/node");

/**
 * Runs a tool of the project at the terminal and returns its exit status.
 * @param isBeside others run at the same time: what it prints is shown in one piece when it is done
 */
export async function runTool(
  name: string,
  args: string[],
  environment: Record<string, string> = {},
  { isBeside = false } = {},
): Promise<number> {
  const child = spawn(join(bin, name), args, {
    cwd: root,
    stdio: isBeside ? ["ignore", "pipe", "pipe"] : ["ignore", "inherit", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, PATH: [bin, process.env.PATH].join(delimiter), ...environment },
  });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => printed.push(chunk));
  const [code] = await once(child, "close");
  process.stdout.write(Buffer.concat(printed));
  return code ?? 1;
}
