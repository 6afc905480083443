import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childEnvironment } from "#core/env.ts";

const ROOT = join(import.meta.dirname, "../..");

const OPERATOR = `npm() { while [ "$1" != -- ]; do shift; done; shift; node '${ROOT}/scripts/admin.ts' "$@"; }`;

export type Run = { status: number | null; out: string; err: string };

export class SnippetFolder {
  readonly path = mkdtempSync(join(tmpdir(), "keyhook-docs-"));
  readonly environment: Record<string, string> = {};
  readonly #children = new Set<ChildProcessWithoutNullStreams>();

  constructor() {
    symlinkSync(join(ROOT, "node_modules"), join(this.path, "node_modules"));
    mkdirSync(join(this.path, "home"));
  }

  /** Variables that the commands set remain for the next commands (`set -a`). The operator's command starts without npm. */
  async shell(code: string, stdin = ""): Promise<Run> {
    const known = "test ! -f .variables || . ./.variables";
    const keep = "export -p | grep -vE '^declare -[a-z]*r' > .variables";
    const script = `set -euo pipefail\n${OPERATOR}\n${known}\nset -a\n${code}\n${keep}\n`;
    const child = this.start("bash", ["-c", script]);
    child.stdin.end(stdin);
    return ended(child);
  }

  write(name: string, code: string): string {
    const file = join(this.path, name);
    writeFileSync(file, code);
    return file;
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  async program(command: string, args: readonly string[]): Promise<Run> {
    const child = this.start(command, args);
    child.stdin.end();
    return ended(child);
  }

  start(command: string, args: readonly string[]): ChildProcessWithoutNullStreams {
    const env = childEnvironment({ ...this.environment, HOME: join(this.path, "home") });
    const child = spawn(command, args, { cwd: this.path, env });
    this.#children.add(child);
    child.once("exit", () => this.#children.delete(child));
    return child;
  }

  remove(): void {
    for (const child of this.#children) child.kill("SIGKILL");
    rmSync(this.path, { recursive: true, force: true });
  }
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Run> {
  const run: Run = { status: null, out: "", err: "" };
  child.stdout.on("data", (chunk) => (run.out += chunk));
  child.stderr.on("data", (chunk) => (run.err += chunk));
  // A program may end without reading its input.
  child.stdin.on("error", () => undefined);
  [run.status] = (await once(child, "close")) as [number | null];
  return run;
}

export async function listening(child: ChildProcessWithoutNullStreams, port: number): Promise<void> {
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  while (child.exitCode === null) {
    const isThere = await new Promise<boolean>((resolve) => {
      const trial = connect(port, "localhost", () => resolve(true)).once("error", () => resolve(false));
      trial.once("connect", () => trial.destroy());
    });
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the program has ended with ${child.exitCode}: ${errors}`);
}
