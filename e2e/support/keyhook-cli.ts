import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const PROGRAM = resolve(import.meta.dirname, "../../packages/cli/src/keyhook.ts");

type Ended = { code: number | null; stdout: string; stderr: string };

/** `keyhook` as it runs in somebody's terminal, with a folder for settings of its own. */
export class KeyhookCli {
  readonly #env: NodeJS.ProcessEnv;

  constructor(origin: string) {
    const { KEYHOOK_TOKEN: _, ...env } = process.env;
    const KEYHOOK_CONFIG_DIR = mkdtempSync(join(tmpdir(), "keyhook-e2e-"));
    this.#env = { ...env, KEYHOOK_URL: origin, KEYHOOK_CONFIG_DIR };
  }

  start(...argv: string[]) {
    const child = spawn(process.execPath, [PROGRAM, ...argv], { env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
    const printed = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (text) => {
        printed[name] += text;
      });
    }
    const closed = once(child, "close");
    return {
      /** The first group of what it prints. */
      async shows(pattern: RegExp): Promise<string> {
        for (;;) {
          const [, found] = pattern.exec(printed.stdout) ?? [];
          if (found !== undefined) return found;
          const more = await Promise.race([once(child.stdout, "data"), closed.then(() => undefined)]);
          if (!more) throw new Error(`It ended without: ${pattern}\n${printed.stdout}${printed.stderr}`);
        }
      },
      async ended(): Promise<Ended> {
        const [code] = await closed;
        return { code, ...printed };
      },
    };
  }

  run(...argv: string[]): Promise<Ended> {
    return this.start(...argv).ended();
  }
}
