import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { operatorCommand } from "#core/access/actor.ts";
import { signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { worldAt } from "#core/oauth/testing/world.ts";
import { type ChaosService, startChaosService } from "../service.ts";
import type { Kind } from "./healthy.ts";

export type Stage = {
  service: ChaosService;
  origin: string;
  directories: string[];
  healthy: Kind[];
  attacker(): Promise<{ person: TestPerson; token: string }>;
  repo(person: TestPerson, files: Record<string, string | Buffer>, input?: Parameters<typeof someRepo>[1]): Promise<Repo>;
  stop(): Promise<void>;
};

export async function setStage(): Promise<Stage> {
  let temporary = "";
  const service = await startChaosService((directory) => {
    // A folder of its own distinguishes the service's files from other files. Sandboxes enter the directory as other users.
    temporary = join(directory, "tmp");
    mkdirSync(temporary);
    chmodSync(directory, 0o711);
    chmodSync(temporary, 0o1777);
    return { TMPDIR: temporary };
  });
  const { origin, dataDir } = service.running;
  const stage = {
    service,
    origin,
    directories: [dataDir, temporary],
    async attacker() {
      const person = await signedInPerson("mallory");
      const input = { name: "abuse", scopes: ["write-repos", "jobs"], expiresInDays: 1 };
      return { person, token: (await createPersonalAccessToken(operatorCommand, person.id, input, noOrigin)).token };
    },
    async repo(person: TestPerson, files: Record<string, string | Buffer>, input: Parameters<typeof someRepo>[1] = {}) {
      const repo = await someRepo(person, input);
      await commitTo(repo, person, files);
      return repo;
    },
    stop: () => service.stop(),
  };
  const healthy = await healthyKinds(origin, stage.repo).catch(async (error: unknown) => {
    console.error(service.running.output().slice(-10_000));
    await service.stop();
    throw error;
  });
  return { ...stage, healthy };
}

async function healthyKinds(origin: string, makeRepo: Stage["repo"]): Promise<Kind[]> {
  const ada = await signedInPerson("ada");
  const repo = await makeRepo(ada, projectFiles());
  const world = worldAt(origin);
  const app = await world.app({ id: ada.id, username: ada.username, email: ada.email });
  const browser = world.browser();
  const session = await world.signIn(browser, { id: ada.id, username: ada.username, email: ada.email });
  const { tokens } = await world.signInWith(app, session, browser);
  return [
    { name: "sign-in page", perSecond: 4, does: "get", paths: ["/login"], headers: { accept: "text/html" } },
    {
      ...{ name: "userinfo", perSecond: 10, does: "get", paths: ["/oauth/userinfo"] },
      headers: { authorization: `Bearer ${tokens.access_token}` },
    },
    { name: "git clone", perSecond: 2, does: "clone", path: `/${repo.fullName}.git` },
    {
      ...{ name: "repository page", perSecond: 4, does: "get", headers: { accept: "text/html" }, contains: "<em>tide</em>" },
      paths: Array.from({ length: NOTES * 2 }, (_, at) => `/${repo.fullName}${at % 2 ? `/tree/main/notes/${at >> 1}` : ""}`),
    },
  ];
}

const NOTES = 300;

function projectFiles(): Record<string, string> {
  const text = "Heights of the *tide*, by hour.\n\n```js\nexport const a = 1;\n```\n";
  const files: Record<string, string> = { "README.md": `---\nlicense: mit\ntags: [tides]\n---\n# Tides\n\n${text}` };
  for (let at = 0; at < 20; at++) files[`src/part-${at % 4}/file-${at}.js`] = `export const height${at} = ${at};\n`.repeat(20);
  for (let at = 0; at < NOTES; at++) files[`notes/${at}/README.md`] = `# Note ${at}\n\n${text}`;
  return files;
}

const CALM_MS = 300;

/** @returns the time until the service answered quickly, in seconds */
export async function untilCalm(origin: string, seconds: number): Promise<number> {
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1_000;
  for (let calm = 0; calm < 3 && elapsed() < seconds; await delay(200)) {
    const from = performance.now();
    const answer = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    await answer?.text().catch(() => undefined);
    calm = answer?.ok && performance.now() - from < CALM_MS ? calm + 1 : 0;
  }
  return Math.round(elapsed() * 10) / 10;
}
