import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import { makeWebhook } from "./chaos/load.ts";
import type { ChaosService } from "./chaos/service.ts";

export type Action = { name: string; make(nth: number): Promise<void> };

const REPOS = 10;

const run = promisify(execFile);
const person = { name: "Mara", email: "mara@example.test" };
const environment = {
  ...process.env,
  ...{ GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" },
  ...{ GIT_AUTHOR_NAME: person.name, GIT_AUTHOR_EMAIL: person.email },
  ...{ GIT_COMMITTER_NAME: person.name, GIT_COMMITTER_EMAIL: person.email },
};

export async function prepareActions(
  { running: { origin }, ownerId }: ChaosService,
  url: string,
): Promise<{ actions: Action[]; stop(): void }> {
  const input = { name: "bench", scopes: ["write-repos", "write-discussions"], expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(operatorCommand, ownerId, input, noOrigin);
  const directory = mkdtempSync(join(tmpdir(), "keyhook-actions-"));
  const git = (copy: string, ...args: string[]) => run("git", ["-C", join(directory, copy), ...args], { env: environment });
  const names = Array.from({ length: REPOS }, (_, nth) => `actions-${nth}`);
  const at = (nth: number) => names[nth % REPOS] as string;
  const api = (name: string) => `${origin}/api/models/mara/${name}`;

  async function post(address: string, body: string, type = "application/json"): Promise<unknown> {
    const headers = { authorization: `Bearer ${token}`, "content-type": type };
    const response = await fetch(address, { method: "POST", headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`${address}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  const file = (content: string) => ({ path: "tides.txt", content: Buffer.from(content).toString("base64"), encoding: "base64" });
  for (const name of names) {
    const repo = await createRepo(operatorCommand, { type: "model", owner: "mara", name }, noOrigin);
    await post(`${api(name)}/discussions`, JSON.stringify({ title: "Tides" }));
    await run("git", ["init", "--quiet", "--initial-branch=main", join(directory, name)], { env: environment });
    const remote = Object.assign(new URL(`${origin}/${repo.fullName}`), { username: "mara", password: token });
    await git(name, "remote", "add", "origin", remote.href);
    await makeWebhook(ownerId, repo.id, url, "a secret of the bench");
    await commit(name, "first");
    await db().webhook.updateMany({
      where: { watched: { some: { watchedId: repo.id } } },
      data: { domains: ["repo", "discussion"] },
    });
  }

  async function commit(name: string, content: string): Promise<void> {
    const lines = [
      { key: "header", value: { summary: "Tides" } },
      { key: "file", value: file(content) },
    ];
    await post(`${api(name)}/commit/main`, lines.map((line) => JSON.stringify(line)).join("\n"), "application/x-ndjson");
  }

  const pushing = new Map<string, Promise<void>>();
  async function push(name: string, nth: number): Promise<void> {
    await git(name, "commit", "--quiet", "--allow-empty", "-m", `${nth}`);
    await git(name, "push", "--quiet", "origin", "HEAD:refs/heads/pushed");
  }

  return {
    actions: [
      {
        name: "push",
        make(nth) {
          const next = (pushing.get(at(nth)) ?? Promise.resolve()).then(() => push(at(nth), nth));
          pushing.set(at(nth), next);
          return next;
        },
      },
      { name: "commit over the API", make: (nth) => commit(at(nth), `${Date.now()} ${nth}`) },
      {
        name: "comment",
        make: async (nth) => void (await post(`${api(at(nth))}/discussions/1/comment`, JSON.stringify({ comment: `${nth}` }))),
      },
    ],
    stop: () => rmSync(directory, { recursive: true, force: true }),
  };
}
