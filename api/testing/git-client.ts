import { spawn } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { from, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { childEnvironment } from "#core/env.ts";
import { gitLauncher } from "#core/hub/git/git-launcher.ts";

export type GitRun = { status: number | null; out: string; err: string };

/** Ignores this machine's git settings. Through a git launcher, starting git takes a twentieth of the processor time. */
export async function git(directory: string, args: readonly string[], extra: Record<string, string> = {}): Promise<GitRun> {
  const { NODE_ENV, PATH, TMPDIR } = childEnvironment();
  const env = {
    NODE_ENV,
    ...(PATH && { PATH }),
    ...(TMPDIR && { TMPDIR }),
    HOME: directory,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: devNull,
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: "Ada",
    GIT_AUTHOR_EMAIL: "ada@example.test",
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "ada@example.test",
    LC_ALL: "C",
    ...extra,
  };
  const command = "git";
  const settings = ["-c", "init.defaultBranch=main", "-c", "protocol.version=2"];
  const launch = { command, args: [...settings, ...args], cwd: directory, env };
  const child = (await gitLauncher()?.launch(launch)) ?? spawn(command, launch.args, launch);
  child.stdin.end();
  const run: GitRun = { status: null, out: "", err: "" };
  child.stdout.on("data", (chunk) => (run.out += chunk));
  child.stderr.on("data", (chunk) => (run.err += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve({ ...run, status }));
  });
}

export async function mustGit(directory: string, args: readonly string[], extra?: Record<string, string>): Promise<string> {
  const { status, out, err } = await git(directory, args, extra);
  if (status !== 0) throw new Error(`git ${args.join(" ")} ended with ${status}: ${err}`);
  return out.trim();
}

export const emptyFolder = (): Promise<string> => mkdtemp(join(tmpdir(), "keyhook-git-"));

export async function workingCopy(files: Record<string, string | Buffer> = { "README.md": "# Tide\n" }): Promise<string> {
  const directory = await emptyFolder();
  await mustGit(directory, ["init", "--quiet"]);
  await commit(directory, files);
  return directory;
}

export async function commit(directory: string, files: Record<string, string | Buffer>, message = "Change"): Promise<string> {
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  await mustGit(directory, ["add", "--all"]);
  await mustGit(directory, ["commit", "--quiet", "--allow-empty", "-m", message]);
  return mustGit(directory, ["rev-parse", "HEAD"]);
}

export async function tokenOf(person: TestPerson, ...scopes: string[]): Promise<string> {
  const input = { name: "git", scopes: scopes.length > 0 ? scopes : ["write-repos"], expiresInDays: null };
  return (await createPersonalAccessToken(person.actor, person.id, input, from)).token;
}

export function remote(origin: string, path: string, token?: string, user = "any"): string {
  const url = new URL(path, origin);
  if (token) Object.assign(url, { username: user, password: token });
  return url.href;
}
