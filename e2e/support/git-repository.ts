import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { admin } from "./admin.ts";
import type { Demo } from "./demo.ts";
import type { Person } from "./sign-in-page.ts";

const SCOPES = "read-repos write-repos manage-repos write-discussions";

export async function makeToken(demo: Demo, { username }: Pick<Person, "username">): Promise<string> {
  const { token } = await admin(demo, "token", "create", "--user", username, "--scopes", SCOPES, "--expires", "1");
  return token ?? "";
}

/** @returns `owner/name` */
export async function makeRepo(demo: Demo, token: string, name = "tide-tables"): Promise<string> {
  const response = await fetch(`${demo.origin}/api/repos/create`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name, type: "model", autoInit: false }),
  });
  if (!response.ok) throw new Error(`no repository: ${await response.text()}`);
  return ((await response.json()) as { name: string }).name;
}

export class WorkTree {
  readonly #directory = mkdtempSync(join(tmpdir(), "keyhook-tree-"));
  readonly #remote: string;

  constructor(demo: Demo, token: string, fullName: string) {
    const url = new URL(`${demo.origin}/${fullName}`);
    url.username = "git";
    url.password = token;
    this.#remote = url.href;
  }

  async init(): Promise<void> {
    await this.git("init", "--quiet", "--initial-branch=main");
    await this.git("remote", "add", "origin", this.#remote);
  }

  async commit(message: string, files: Record<string, string>): Promise<void> {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.#directory, name), text);
    await this.git("add", "--all");
    await this.git("commit", "--quiet", "--message", message);
  }

  async git(...args: string[]): Promise<string> {
    const settings = ["-c", "user.name=Ada", "-c", "user.email=ada@example.test", "-c", "credential.helper="];
    const env = { ...process.env, GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_GLOBAL: "/dev/null" };
    const { stdout } = await promisify(execFile)("git", [...settings, ...args], { cwd: this.#directory, env });
    return stdout;
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

export async function makeTree(demo: Demo, person: Person) {
  const token = await makeToken(demo, person);
  const name = await makeRepo(demo, token);
  const tree = new WorkTree(demo, token, name);
  await tree.init();
  return {
    name,
    tree,
    async push(text: string): Promise<void> {
      await tree.commit(text, { "tides.txt": `${text}\n` });
      await tree.git("push", "--quiet", "origin", "main");
    },
  };
}
