import { type Actor, type ActorNow, actorId } from "../../access/actor.ts";
import { may, requirePermission } from "../../access/may.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { conflict, notFound, ServiceError } from "../../errors.ts";
import { holdStorage } from "../../storage/hold-storage.ts";
import { pushes } from "../git/queues.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { listRefs, updateRefs } from "../git/refs/git-refs.ts";
import { openRepository } from "../git/repository.ts";
import { GitFailed, runGit, spawnGit } from "../git/run-git.ts";
import { fetchLimits } from "../git/smart-http/transfer-settings.ts";
import { openQuarantine } from "../git/write/quarantine.ts";
import { findPointers } from "../lfs/find-missing-pointers.ts";
import { copyLfsObjects } from "../lfs/objects/copy-lfs-objects.ts";
import { removeRepos } from "./change-repo.ts";
import { createRepo } from "./create-repo.ts";
import { findRepo, type RepoName } from "./find-repo.ts";
import { lockRepo, readRepo } from "./read-repos.ts";
import { ownerColumns, type Repo, repoResource } from "./repo.ts";

const COPY_MAX_MS = 10 * 60_000;
/** Deleted copies count for two days, so a member could fill an organization's storage with them. */
const COPIES: ThrottleLimit = { limit: 30, windowSeconds: 60 * 60 };
/** S137: an object whose delta base is not copied becomes whole, so the copy could be a thousand times as large. */
const SLACK_BYTES = 16 * 1024 * 1024;

type Copy = {
  owner: string;
  name: string;
  isPrivate?: boolean | undefined;
  prepare?: (made: Repo) => Promise<void>;
};

/** The copy's large files are not stored twice, but count toward its owner's quota. */
export async function duplicateRepo(
  actor: Actor,
  wanted: RepoName,
  to: Copy,
  from: RequestOrigin,
  actorNow: ActorNow = async () => actor,
): Promise<Repo> {
  const source = await findRepo(actor, wanted, "repo.read_content");
  const { isPrivate = isRestricted(source) || undefined } = to;
  await requireCopyable(actor, source, isPrivate);
  await openRepository(source);
  const owner = await findOwner(to.owner);
  if (!owner) throw notFound("Owner");
  await requirePermission(actor, "repo.create", ownerColumns(owner), { what: "Owner" });
  if (actor.kind === "person" || actor.kind === "token")
    await consumeThrottle(throttleKey("repo_duplicate", actor.userId), COPIES);
  const [gitBytes, lfsBytes] = [source.sizeBytes + SLACK_BYTES, source.lfsBytes + SLACK_BYTES];
  const hold = await holdStorage(owner, gitBytes + lfsBytes, `a copy of ${source.fullName}`);
  try {
    const { type, sdk, defaultBranch } = source;
    const made = await createRepo(actor, { type, owner: to.owner, name: to.name, isPrivate, sdk, defaultBranch }, from);
    const mayStill = async () => {
      const [now, current, copy] = [await actorNow(), await readRepo(source.id), await readRepo(made.id)];
      if (!current || !copy) throw notFound("Repository");
      await requireCopyable(now, current, copy.isPrivate);
      await requirePermission(now, "repo.write", repoResource(copy), { what: "Repository" });
      // The reservation did not include files that the source has got since.
      if (copy.lfsBytes > lfsBytes) throw conflict(`${source.fullName} has changed in the meantime. Try again.`);
    };
    const copyAll = async () => {
      await to.prepare?.(made);
      return (await copyContent(actor, source, made, { gitBytes, mayStill })) ?? made;
    };
    return await pushes.run(copyAll, { within: made.id }).catch(async (error: unknown) => {
      await removeEmpty(actor, made, from);
      throw error;
    });
  } finally {
    await hold.release();
  }
}

const isRestricted = ({ isPrivate, gated }: Repo): boolean => isPrivate || gated !== "none";

/** A public copy publishes the content, which requires the right to publish the source. */
async function requireCopyable(actor: Actor, source: Repo, isPrivate: boolean | undefined): Promise<void> {
  await requirePermission(actor, "repo.read_content", repoResource(source), { what: "Repository" });
  if (isPrivate || !isRestricted(source) || (await may(actor, "repo.manage", repoResource(source)))) return;
  throw new ServiceError(
    "forbidden",
    `${source.fullName} is private or gated. Make the copy private, or ask a maintainer of the repository to create a public copy.`,
  );
}

async function copyContent(
  actor: Actor,
  source: Repo,
  made: Repo,
  { gitBytes, mayStill }: { gitBytes: number; mayStill: () => Promise<void> },
): Promise<Repo | undefined> {
  const [sourcePath, path] = [await openRepository(source), await openRepository(made)];
  const refs = [...(await listRefs(sourcePath, "refs/heads/")), ...(await listRefs(sourcePath, "refs/tags/"))];
  if (refs.length === 0) return undefined;
  const quarantine = await openQuarantine(path);
  try {
    await copyObjects(sourcePath, quarantine.path, refs, gitBytes);
    for await (const pointers of findPointers(quarantine.path, `${quarantine.path}/objects`)) {
      const oids = [...new Set(pointers.map(({ oid }) => oid))];
      await copyLfsObjects(source, made, oids, { isHeld: true });
    }
    await mayStill();
    const changes = refs.map(([ref, newSha]) => ({ ref, oldSha: null, newSha }));
    const recorded = await changeRefs(made, actor, changes, async () => {
      await quarantine.release();
      return updateRefs(path, changes);
    });
    if (!recorded) throw notFound("Repository");
    return recorded.repo;
  } finally {
    await quarantine.discard();
  }
}

const TOO_MUCH_ROOM =
  "The copy would need more space than the original, which stores files as differences from versions that are no longer on any branch or tag. " +
  "Clone the repository and push the clone to a new one instead.";

/** Copies only the history of branches and tags. Other objects belong to pull requests, or were removed from the history. */
async function copyObjects(
  sourcePath: string,
  path: string,
  refs: readonly (readonly [string, string])[],
  maxBytes: number,
): Promise<void> {
  const limit = AbortSignal.timeout(COPY_MAX_MS);
  const pack = await spawnGit(sourcePath, ["pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset"], {
    ...fetchLimits,
    config: ["pack.window=0", "pack.threads=1"],
    signal: limit,
  });
  pack.once("error", () => undefined);
  pack.stderr.resume();
  pack.stdin.on("error", () => undefined);
  pack.stdin.end(refs.map(([, sha]) => `${sha}\n`).join(""));
  try {
    const { memoryMiB, niceness } = fetchLimits;
    const options = { isLimited: true, memoryMiB, niceness, timeoutMs: COPY_MAX_MS };
    const args = ["index-pack", "--stdin", "--threads=1", `--max-input-size=${maxBytes}`];
    await runGit(path, args, { ...options, input: pack.stdout });
  } catch (error) {
    if (!(error instanceof GitFailed && error.stderr.includes("maximum allowed size"))) throw error;
    throw conflict(TOO_MUCH_ROOM);
  } finally {
    pack.kill("SIGKILL");
  }
}

/** Somebody may have pushed to the copy meanwhile, so this checks again that it is empty. */
async function removeEmpty(actor: Actor, { id }: Repo, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    const repo = await lockRepo(tx, id);
    if (!repo || repo.headSha !== null) return;
    const { fullName, type, isPrivate, owner } = repo;
    await recordAuditEvent(tx, { type: "repo.delete", actor, owner, data: { repo: fullName, type, isPrivate }, from });
    await removeRepos(tx, [repo], actorId(actor));
  });
}
