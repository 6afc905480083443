import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pool } from "#core/db.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import {
  type Bench,
  commitOverApi,
  env,
  git,
  newRepo,
  originOf,
  type Place,
  pathAt,
  remoteOf,
  requireOk,
  run,
} from "./places.ts";

const SHARED = /same branch|API/;
const REJECTED = /\[rejected\]|\[remote rejected\]|conflict|409|412/;

export async function startTraffic(bench: Bench, index: number) {
  const { anna, bela } = bench;
  const directory = mkdtempSync(join(bench.directory, "traffic-"));
  const names = ["both", "anna", "bela", "api"];
  const repos = await Promise.all(names.map((name) => newRepo(`${name}-${index}`)));
  const [both, ofAnna, ofBela, byApi] = repos as [Repo, Repo, Repo, Repo];
  const traffic = {
    isOver: false,
    unseen: 0,
    reads: 0,
    failures: [] as string[],
    confirmed: [] as { repo: Repo; sha: string }[],
  };

  const repeat = async (what: string, action: (nth: number) => Promise<void>) => {
    for (let nth = 0; !traffic.isOver; nth++)
      await action(nth).catch((error: Error & { stderr?: string }) => {
        const text = (error.stderr || String(error.cause ?? error.message)).replaceAll(/[0-9a-f]{12,}|localhost:\d+/g, "…");
        if (!(SHARED.test(what) && REJECTED.test(text))) traffic.failures.push(`${what}: ${text.trim().slice(-400)}`);
        return delay(200);
      });
  };
  const makeCopy = async (name: string): Promise<string> => {
    const copy = join(directory, name);
    await run("git", ["init", "--quiet", "--initial-branch=main", copy], { env });
    await git(copy, "commit", "--quiet", "--allow-empty", "-m", "first");
    return copy;
  };

  async function pushOwn(place: Place, other: Place, repo: Repo): Promise<(nth: number) => Promise<void>> {
    const copy = await makeCopy(repo.name);
    const [here, there] = [remoteOf(place, repo, bench), remoteOf(other, repo, bench)];
    // The default branch cannot be deleted.
    await git(copy, "push", "--quiet", here, "HEAD:refs/heads/main");
    return async (nth: number) => {
      await git(copy, "commit", "--quiet", "--allow-empty", "-m", "tides");
      const sha = await git(copy, "rev-parse", "HEAD");
      const topic = `refs/heads/topics/${nth}`;
      await git(copy, "push", "--quiet", here, `HEAD:${topic}`);
      traffic.confirmed.push({ repo, sha });
      const seen = await git(copy, "ls-remote", there, topic);
      if (!seen.startsWith(sha)) traffic.unseen++;
      await git(copy, "push", "--quiet", here, "HEAD:refs/heads/main");
      await Promise.all([git(copy, "push", "--quiet", here, `:${topic}`), git(copy, "ls-remote", there)]);
    };
  }

  async function pushShared(place: Place): Promise<() => Promise<void>> {
    const copy = await makeCopy(`both-${place.name}`);
    const remote = remoteOf(place, both, bench);
    return async () => {
      const tip = (await git(copy, "ls-remote", remote, "refs/heads/main")).slice(0, 40);
      if (tip) {
        await git(copy, "fetch", "--quiet", remote, "main");
        await git(copy, "reset", "--quiet", "--hard", "FETCH_HEAD");
      }
      await git(copy, "commit", "--quiet", "--allow-empty", "-m", `tides of ${place.name} ${Date.now()}`);
      await git(copy, "push", "--quiet", remote, "HEAD:refs/heads/main");
      traffic.confirmed.push({ repo: both, sha: await git(copy, "rev-parse", "HEAD") });
    };
  }

  const commit = (place: Place) => async (nth: number) => {
    const sha = await commitOverApi(place, byApi, bench, `${place.name} ${nth}`);
    traffic.confirmed.push({ repo: byApi, sha });
  };

  async function read(nth: number): Promise<void> {
    const repo = repos[nth % repos.length] as Repo;
    const into = join(directory, `clone-${nth}`);
    await run("git", ["clone", "--quiet", "--bare", remoteOf(anna, repo, bench), into], { env });
    await git(into, "fsck", "--full");
    rmSync(into, { recursive: true });
    await requireOk(fetch(`${originOf(anna)}/${repo.fullName}`));
    traffic.reads++;
  }

  const actions = {
    "push by one node": await pushOwn(anna, bela, ofAnna),
    "push by the other node": await pushOwn(bela, anna, ofBela),
    "push to the same branch by one node": await pushShared(anna),
    "push to the same branch by the other node": await pushShared(bela),
    "commit by one node's API": commit(anna),
    "commit by the other node's API": commit(bela),
    read,
  };
  const running = Promise.all(Object.entries(actions).map(([what, action]) => repeat(what, action)));
  return {
    repos,
    async end() {
      traffic.isOver = true;
      await running;
      const broken: string[] = [];
      const [kept, events] = [new Set<string>(), new Set<string>()];
      for (const repo of repos) {
        const path = pathAt(bela, repo);
        await git(path, "fsck", "--full").catch((error: Error) => broken.push(`fsck: ${error.message.slice(-200)}`));
        for (const sha of (await git(path, "rev-list", "--all")).split("\n")) kept.add(sha);
        const { rows } = await pool().query<{ sha: string }>(
          `select ref ->> 'newSha' as sha from event, jsonb_array_elements(payload::jsonb -> 'updatedRefs') as ref where repo_id = $1`,
          [repo.id],
        );
        for (const { sha } of rows) events.add(sha);
      }
      const countMissing = (from: Set<string>) => traffic.confirmed.filter(({ sha }) => !from.has(sha)).length;
      rmSync(directory, { recursive: true, force: true });
      return { ...traffic, confirmed: traffic.confirmed.length, lost: countMissing(kept), silent: countMissing(events), broken };
    },
  };
}
