import type { EventPayload } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { db } from "#core/db.ts";
import { listCommits } from "#core/hub/git/read/list-commits.ts";
import { listRepos } from "#core/hub/repos/list-repos.ts";
import { type Repo, repoPayload } from "#core/hub/repos/repo.ts";
import { newOrderedId } from "#core/ids.ts";
import { operator, organizations, people } from "../samples.ts";
import { deliveryRows } from "./deliveries.ts";
import { peopleRows } from "./people.ts";
import { writeHistory } from "./write-history.ts";

const HOUR_MS = 3_600_000;

/** Writes the rows of a month. Today's audit entries about the seeding stay, because the log cannot be changed. */
export async function seedHistory(now = Date.now()): Promise<void> {
  const olderThan = Math.floor(now / HOUR_MS) * HOUR_MS;
  const ownerIds = await findSampleOwners();
  const { repos } = await listRepos(operatorCommand, { limit: 100 });
  const own = repos.filter(({ owner }) => ownerIds.includes(owner.id));
  const events = (await Promise.all(own.map((repo) => eventsOf(repo, olderThan)))).flat();
  const changes = own.flatMap(({ id }) => {
    const last = events.findLast(({ repo_id }) => repo_id === id);
    return last ? [{ repoId: id, at: last.created_at }] : [];
  });
  const rows = {
    event: events.map(({ repo_name: _, ...event }) => event),
    ...(await deliveryRows(events, { ownerIds, now })),
    ...(await peopleRows(ownerIds, olderThan)),
  };
  await writeHistory({ ownerIds, changes, rows });
}

/** Other users may have these names, so email addresses must match too. @throws Error if a user or organization is missing */
async function findSampleOwners(): Promise<string[]> {
  const select = { id: true };
  const accounts = [...people, operator].map(({ username, email }) => ({ username, email }));
  const owned = organizations.map(({ name, owner }) => ({
    name,
    memberships: { some: { role: "admin", user: { OR: accounts.filter(({ username }) => username === owner) } } },
  }));
  const found = await Promise.all([
    db().user.findMany({ where: { OR: accounts }, select }),
    db().organization.findMany({ where: { OR: owned }, select }),
  ]);
  const ids = found.flat().map(({ id }) => id);
  if (ids.length !== accounts.length + owned.length)
    throw new Error("This service does not have the samples' people and organizations.");
  return ids;
}

export type EventRow = Awaited<ReturnType<typeof eventsOf>>[number];

async function eventsOf(repo: Repo, olderThan: number) {
  const commits = [];
  for (let page = 0, isMore = true; isMore; page++) {
    const found = await listCommits(repo, { revision: repo.defaultBranch, page });
    commits.push(...found.commits);
    isMore = commits.length < found.total && found.commits.length > 0;
  }
  return commits
    .toReversed()
    .filter(({ committer }) => committer.at.getTime() < olderThan)
    .map(({ sha, parents, committer: { at } }) => {
      const payload: EventPayload = {
        event: { scope: "repo.content", action: "update" },
        repo: repoPayload({ ...repo, headSha: sha }),
        updatedRefs: [{ ref: `refs/heads/${repo.defaultBranch}`, oldSha: parents[0] ?? null, newSha: sha }],
      };
      return {
        ...{ id: newOrderedId(at.getTime()), scope: payload.event.scope, action: payload.event.action },
        ...{ repo_id: repo.id, repo_type: repo.type, owner_id: repo.owner.id, is_private: repo.isPrivate },
        ...{ actor_id: repo.createdById, payload, created_at: at, fanned_out_at: at, repo_name: repo.fullName },
      };
    });
}
