import { join } from "node:path";
import type { Actor, ActorNow } from "../../../access/actor.ts";
import { may, requirePermission } from "../../../access/may.ts";
import { inTransaction } from "../../../db.ts";
import { invalidRequest, notFound, ServiceError } from "../../../errors.ts";
import { requestContext } from "../../../log.ts";
import { isAncestor } from "../../discussions/commits.ts";
import { numOfPullRequestRef } from "../../discussions/discussion.ts";
import { openPullRequest } from "../../discussions/open-pull-request.ts";
import { findStore } from "../../lfs/proposals/proposal-store.ts";
import { claimFiles } from "../../lfs/proposals/proposed-files.ts";
import { oneAtATime } from "../../one-at-a-time.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import { readRepo } from "../../repos/read-repos.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { recountRepository } from "../count-objects.ts";
import { pushes } from "../queues.ts";
import { changeRefs } from "../refs/change-refs.ts";
import { resolveRef, updateRefs } from "../refs/git-refs.ts";
import { openRepository } from "../repository.ts";
import { type BuiltCommit, buildCommit, type Change, commitMessage, signatureOf } from "./build-commit.ts";
import { findCommit, resolveCommitTarget } from "./change-target.ts";
import { type Collected, collectChanges, type Operation } from "./collect-changes.ts";
import { boundContents, holdCommit } from "./commit-storage.ts";
import { addLfsAttributes } from "./lfs-attributes.ts";
import { openQuarantine, type Quarantine } from "./quarantine.ts";
import { type Import, startImport } from "./start-import.ts";

export type NewCommit = {
  revision: string;
  summary: string;
  description?: string | undefined;
  /**
   * The branch's latest commit, or the first digits of its SHA. Null for an empty branch. With `isPullRequest`, the commit at
   * which the pull request starts.
   */
  parentCommit?: string | null | undefined;
  isPullRequest?: boolean;
  operations: AsyncIterable<Operation> | Iterable<Operation>;
};

export type Committed = {
  repo: Repo;
  sha: string;
  ref: string;
  isNew: boolean;
  pullRequest?: number;
};

/** In this process, commits to one branch wait for each other. Only pushes, merges and other processes can overtake one. */
const ATTEMPTS_MAX = 10;
/** Either the whole commit is created or nothing, because the branch moves at the very end. */
export async function createCommit(
  actor: Actor,
  name: RepoName,
  input: NewCommit,
  actorNow: ActorNow = async () => actor,
): Promise<Committed> {
  const repo = await findRepo(actor, name);
  const path = await openRepository(repo);
  const { revision, isPullRequest = false } = input;
  const ref = await resolveCommitTarget(actor, repo, path, { revision, isPullRequest });
  const message = commitMessage(input.summary, input.description);
  // Holds a slot while contents arrive, and yields it if they arrive slowly (S137).
  const slot = await pushes.take({ within: path });
  const request = requestContext.getStore();
  if (request) request.mustYield = slot.mustYield;
  try {
    return await writeCommit({ actor, actorNow, repo, path, ref, message }, input);
  } finally {
    if (request) request.mustYield = undefined;
    slot();
  }
}

async function writeCommit(
  target: Pick<Draft, "actor" | "actorNow" | "repo" | "path" | "ref" | "message">,
  input: NewCommit,
): Promise<Committed> {
  const { repo, path, ref } = target;
  const { revision, isPullRequest = false } = input;
  const isProposal = isPullRequest || numOfPullRequestRef(ref) !== undefined;
  const storeId = isProposal ? await findStore(target.actor, repo.id) : undefined;
  const quarantine = await openQuarantine(path);
  const imports = new Imports(quarantine);
  try {
    // Without this check, a proposal would tell which large files a gated repository has (S135).
    const mayRead = await may(target.actor, "repo.read_content", repoResource(repo));
    const collected = await collectChanges(input.operations, {
      repoId: mayRead ? repo.id : undefined,
      storeId,
      git: () => imports.current(),
      resolveCommit: (wanted) => findCommit(repo, path, wanted),
      countContent: await boundContents(target.actor, repo),
    });
    const draft: Draft = { ...target, parentCommit: input.parentCommit, storeId, collected, quarantine, imports };
    return isPullRequest
      ? await propose(draft, input)
      : await oneAtATime(`${repo.id} ${ref}`, () => addToBranch(draft, revision, isPullRequest));
  } finally {
    imports.kill();
    await quarantine.discard();
  }
}

type Draft = {
  actor: Actor;
  actorNow: ActorNow;
  repo: Repo;
  path: string;
  ref: string;
  message: string;
  parentCommit: string | null | undefined;
  storeId: string | undefined;
  collected: Collected;
  quarantine: Quarantine;
  imports: Imports;
};

/** Builds the commit again if another one was faster, unless the caller requires a certain parent. */
async function addToBranch(draft: Draft, revision: string, isPullRequest: boolean): Promise<Committed> {
  const { actorNow, repo, path, ref, quarantine, parentCommit, storeId, collected } = draft;
  const num = numOfPullRequestRef(ref);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const parent = await resolveRef(path, ref);
    requireParent(parent, parentCommit);
    const built = await build(draft, parent);
    if (!built.isDifferent) return { repo, sha: parent as string, ref, isNew: false };
    // Rights, token and repository may have changed during the upload.
    const [actor, current] = [await actorNow(), await readRepo(repo.id)];
    if (!current) throw notFound("Repository");
    await resolveCommitTarget(actor, current, path, { revision, isPullRequest });
    await requireCopyable(actor, current, collected);
    const change = { ref, oldSha: parent, newSha: built.sha };
    let isDone = false;
    const hold = await holdCommit(actor, repo, collected, quarantine.path);
    const perform = async () => {
      await quarantine.release();
      const changed = await updateRefs(path, [change]);
      isDone = changed.length > 0;
      return changed;
    };
    const write = async () => {
      if (num !== undefined) await inTransaction((tx) => claimFiles(tx, { repoId: repo.id, num, storeId }, collected.proposed));
      return changeRefs(repo, actor, [change], perform, join(quarantine.path, "objects"));
    };
    const recorded = await write().finally(() => hold?.release());
    if (recorded) return { repo: recorded.repo, sha: built.sha, ref, isNew: true };
    if (isDone) throw notFound("Repository");
  }
  throw new ServiceError("conflict", "Many commits to this branch are in progress. Try again in a moment.", {
    retryAfterSeconds: 1,
  });
}

async function propose(draft: Draft, { summary, description, parentCommit }: NewCommit): Promise<Committed> {
  const { actorNow, repo, path, ref, quarantine, storeId, collected } = draft;
  const base = await resolveRef(path, ref);
  const parent = parentCommit && base ? await resolveAncestor(draft, parentCommit, base) : base;
  const built = await build(draft, parent);
  if (!built.isDifferent) throw invalidRequest("There is nothing to propose, because these files would not change.");
  const [actor, current] = [await actorNow(), await readRepo(repo.id)];
  if (!current) throw notFound("Repository");
  await requireCopyable(actor, current, collected);
  const hold = await holdCommit(actor, repo, collected, quarantine.path);
  const opened = await openPullRequest(
    actor,
    { ...current, lfsRemovedAt: repo.lfsRemovedAt },
    {
      title: summary,
      description: description ?? "",
      base: ref.replace(/^refs\/heads\//, ""),
      head: { sha: built.sha, store: quarantine.release },
      largeFiles: { storeId, pointers: collected.proposed },
    },
  )
    .catch(async (error: unknown) => {
      // Git keeps the objects, so they count toward the quota.
      await recountRepository(repo.id);
      throw error;
    })
    .finally(() => hold?.release());
  return { repo: opened.repo, sha: built.sha, ref: `refs/pr/${opened.row.num}`, isNew: true, pullRequest: opened.row.num };
}

/** A copy could show a file's content to users who may only propose changes. */
async function requireCopyable(actor: Actor, repo: Repo, { changes }: Collected): Promise<void> {
  if (!changes.some(({ kind }) => kind === "copy")) return;
  await requirePermission(actor, "repo.read_content", repoResource(repo), { what: "Repository" });
}

async function build(
  { actor, path, message, collected, quarantine, imports }: Draft,
  parent: string | null,
): Promise<BuiltCommit> {
  const git = await imports.current();
  const changes: readonly Change[] = await addLfsAttributes(collected, {
    git,
    gitDirectory: quarantine.path,
    parent,
    within: path,
  });
  const plan = { parent, changes, message, signature: await signatureOf(actor) };
  const built = await buildCommit(git, plan, imports.nextName());
  await imports.end();
  return built;
}

function requireParent(head: string | null, wanted: string | null | undefined): void {
  if (wanted === undefined || wanted === head) return;
  if (wanted === null)
    throw new ServiceError("precondition_failed", "The branch now has its first commit. Review it, then try again.");
  if (!isCommitName(wanted)) throw invalidRequest("Enter the parent commit as 5 to 40 hex digits.");
  if (head?.startsWith(wanted.toLowerCase())) return;
  throw new ServiceError(
    "precondition_failed",
    head
      ? // Scripts match the first two sentences, so they must not change.
        `The branch was updated since you opened this page. Please refresh and try again. Its latest commit is ${head}, not ${wanted}.`
      : `The branch has no commits, so ${wanted} is not its latest.`,
  );
}

const isCommitName = (text: string): boolean => /^[0-9a-f]{5,40}$/i.test(text);

/** Any other parent could make removed content visible again. */
async function resolveAncestor({ repo, path }: Draft, wanted: string, base: string): Promise<string> {
  if (base.startsWith(wanted.toLowerCase()) && isCommitName(wanted)) return base;
  const sha = await findCommit(repo, path, wanted);
  if (await isAncestor(path, sha, base)) return sha;
  throw new ServiceError("precondition_failed", `${wanted} is not a commit of the base branch.`);
}

class Imports {
  readonly #quarantine: Quarantine;
  #open: Promise<Import> | undefined;
  #commits = 0;

  constructor(quarantine: Quarantine) {
    this.#quarantine = quarantine;
  }

  current(): Promise<Import> {
    this.#open ??= startImport(this.#quarantine.path);
    return this.#open;
  }

  nextName(): string {
    return `attempt-${++this.#commits}`;
  }

  async end(): Promise<void> {
    const git = this.#open;
    this.#open = undefined;
    await (await git)?.end();
  }

  kill(): void {
    this.#open?.then(({ kill }) => kill()).catch(() => undefined);
  }
}
