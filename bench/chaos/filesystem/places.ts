import { execFile } from "node:child_process";
import { devNull } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import type { RunningService } from "#core/testing/running-service.ts";
import type { MooseFs, Mount } from "../moosefs.ts";
import { OWNER } from "../service.ts";

export type Place = { name: string; folder: string; settings: Record<string, string>; mount?: Mount; running?: RunningService };
export type Bench = {
  fs: MooseFs;
  disk: Place;
  anna: Place;
  bela: Place;
  directory: string;
  token: string;
  start(place: Place): Promise<void>;
};

export const run = promisify(execFile);
export const env = {
  ...process.env,
  ...{ GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" },
  ...{ GIT_AUTHOR_NAME: "Mara", GIT_AUTHOR_EMAIL: "mara@example.test" },
  ...{ GIT_COMMITTER_NAME: "Mara", GIT_COMMITTER_EMAIL: "mara@example.test" },
};
export const git = async (directory: string, ...args: string[]) =>
  (await run("git", ["-C", directory, ...args], { env, maxBuffer: 1 << 26 })).stdout.trim();

export const newRepo = (name: string) => createRepo(operatorCommand, { type: "model", owner: OWNER.username, name }, noOrigin);
export const originOf = ({ settings }: Place): string => `http://localhost:${settings.PORT}`;
export const remoteOf = (place: Place, { fullName }: Repo, { token }: Bench): string =>
  Object.assign(new URL(`${originOf(place)}/${fullName}`), { username: OWNER.username, password: token }).href;

export const pathAt = ({ settings }: Place, { id }: Repo): string =>
  join(settings.DATA_DIR as string, "repositories", id.slice(-2), `${id}.git`);

export async function requireOk(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 300)}`);
  return text;
}

export async function commitOverApi(place: Place, { fullName }: Repo, { token }: Bench, content: string): Promise<string> {
  const lines = [
    { key: "header", value: { summary: "Tides" } },
    { key: "file", value: { path: "tides.txt", content, encoding: "utf-8" } },
  ];
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" };
  const body = lines.map((line) => JSON.stringify(line)).join("\n");
  const text = await requireOk(fetch(`${originOf(place)}/api/models/${fullName}/commit/main`, { method: "POST", headers, body }));
  return (JSON.parse(text) as { commitOid: string }).commitOid;
}
