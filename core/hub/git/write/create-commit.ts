import type { Actor, ActorNow } from "../../../access/actor.ts";
import { may } from "../../../access/may.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import { type Hold, holdStorage } from "../../../storage/hold-storage.ts";
import { isAncestor } from "../../discussions/commits.ts";
import { openPullRequest } from "../../discussions/open-pull-request.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import { readRepo } from "../../repos/read-repos.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { countObjects, recountRepository } from "../count-objects.ts";
import { holdProposal } from "../hold-proposal.ts";
import { pushes } from "../queues.ts";
import { changeRefs } from "../refs/change-refs.ts";
import { resolveRef } from "../refs/resolve-ref.ts";
import { updateRefs } from "../refs/update-refs.ts";
import { openRepository } from "../repository.ts";
import { addLfsAttributes } from "./add-lfs-attributes.ts";
import { type BuiltCommit, buildCommit, type Change } from "./build-commit.ts";
import { type Collected, collectChanges } from "./collect-changes.ts";
import { commitMessage } from "./commit-message.ts";
import { resolveCommitTarget } from "./commit-target.ts";
import { inTurn } from "./in-turn.ts";
import { findCommit } from "./open-for-change.ts";
import type { Operation } from "./operation.ts";
import { openQuarantine, type Quarantine } from "./quarantine.ts";
import { signatureOf } from "./signature.ts";
import { type Import, startImport } from "./start-import.ts";

export type NewCommit = {
  /** The branch, or `refs/pr/<num>`. */
  revision: string;
  summary: string;
  description?: string | undefined;
  /**
   * The commit that this one was made for, in full or its first digits (five or more): it is refused when the branch has another one
   * by now; null, when it has any. Without it, it is put on top of whatever is there. Of a pull request, the commit to begin at.
   */
  parentCommit?: string | null | undefined;
  /** Proposes the commit instead of putting it onto the branch. */
  isPullRequest?: boolean;
  operations: AsyncIterable<Operation> | Iterable<Operation>;
};

export type Committed = {
  repo: Repo;
  /** The commit; where nothing was different, the one that is there already. */
  sha: string;
  ref: string;
  isNew: boolean;
  /** The number of the pull request that was opened for it. */
  pullRequest?: number;
};

/** Of processes beside this one; in this one commits to a branch wait for each other. */
const ATTEMPTS_MAX = 10;

/**
 * Makes a commit on a branch out of operations, and one event. Contents are written as they come, into a quarantine; the branch moves
 * at the very end, and only from the commit that was built upon, so that a commit is there whole or not at all.
 *
 * A commit that would change nothing is not made: the answer is the one that is there, and there is no event.
 *
 * @param actorNow says once more who commits when all has arrived, which takes as long as they like (S114, S135)
 * @throws ServiceError `not_found` (RepoNotFound, RevisionNotFound, EntryNotFound), `forbidden`, `insufficient_scope`, `unauthorized`;
 * `invalid_request`, which names the path; `payload_too_large`; `precondition_failed` when `parentCommit` is no longer the latest;
 * `storage_full`; `unavailable` when no place came in time
 */
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
  // Git writes contents as they come: like a push, a commit has a place while it arrives.
  return pushes.run(() => writeCommit({ actor, actorNow, repo, path, ref, message }, input), { within: path });
}

async function writeCommit(
  target: Pick<Draft, "actor" | "actorNow" | "repo" | "path" | "ref" | "message">,
  input: NewCommit,
): Promise<Committed> {
  const { repo, path, ref } = target;
  const { revision, isPullRequest = false } = input;
  const quarantine = await openQuarantine(path);
  const imports = new Imports(quarantine);
  try {
    const collected = await collectChanges(input.operations, {
      repoId: repo.id,
      git: () => imports.current(),
      resolveCommit: (wanted) => findCommit(repo, path, wanted),
    });
    const draft: Draft = { ...target, parentCommit: input.parentCommit, collected, quarantine, imports };
    return isPullRequest
      ? await propose(draft, input)
      : await inTurn(`${repo.id} ${ref}`, () => put(draft, revision, isPullRequest));
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
  collected: Collected;
  quarantine: Quarantine;
  imports: Imports;
};

/** Puts a commit onto its branch; again on top of another's, where that was quicker and nobody asked for a certain parent. */
async function put(draft: Draft, revision: string, isPullRequest: boolean): Promise<Committed> {
  const { actorNow, repo, path, ref, quarantine, parentCommit } = draft;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const parent = await resolveRef(path, ref);
    requireParent(parent, parentCommit);
    const built = await build(draft, parent);
    if (!built.isDifferent) return { repo, sha: parent as string, ref, isNew: false };
    // The upload may have taken a while, in which rights, the token and the repository changed.
    const [actor, current] = [await actorNow(), await readRepo(repo.id)];
    if (!current) throw notFound("Repository");
    await resolveCommitTarget(actor, current, path, { revision, isPullRequest });
    const change = { ref, oldSha: parent, newSha: built.sha };
    let isDone = false;
    const hold = await holdRoom(draft);
    const recorded = await changeRefs(repo, actor, [change], async () => {
      await quarantine.release();
      const changed = await updateRefs(path, [change]);
      isDone = changed.length > 0;
      return changed;
    }).finally(() => hold?.release());
    if (recorded) return { repo: recorded.repo, sha: built.sha, ref, isNew: true };
    if (isDone) throw notFound("Repository");
  }
  throw new ServiceError("conflict", "Many commits are being made to this branch. Try again.", { retryAfterSeconds: 1 });
}

async function propose(draft: Draft, { summary, description, parentCommit }: NewCommit): Promise<Committed> {
  const { actorNow, repo, path, ref, quarantine } = draft;
  const base = await resolveRef(path, ref);
  const parent = parentCommit && base ? await resolveAncestor(draft, parentCommit, base) : base;
  const built = await build(draft, parent);
  if (!built.isDifferent) throw new ServiceError("invalid_request", "This would change nothing: there is nothing to propose.");
  const [actor, current] = [await actorNow(), await readRepo(repo.id)];
  if (!current) throw notFound("Repository");
  const hold = await holdRoom(draft);
  const proposal = async () => {
    await quarantine.release();
    return openPullRequest(actor, current, {
      title: summary,
      description: description ?? "",
      base: ref.replace(/^refs\/heads\//, ""),
      head: { sha: built.sha },
    });
  };
  const opened = await proposal()
    .catch(async (error: unknown) => {
      // Its objects stay in the repository until git collects them, and count as long.
      await recountRepository(repo.id);
      throw error;
    })
    .finally(() => hold?.release());
  return { repo: opened.repo, sha: built.sha, ref: `refs/pr/${opened.row.num}`, isNew: true, pullRequest: opened.row.num };
}

/**
 * Puts room aside for what the commit brings. One that only deletes, copies or names what Git LFS already has is made however little is
 * left: it may be how somebody puts things in order.
 */
async function holdRoom({ actor, repo, collected, quarantine }: Draft): Promise<Hold | undefined> {
  const { changes, lfsPaths } = collected;
  if (!changes.some(({ kind, path }) => kind === "put" && !lfsPaths.includes(path))) return undefined;
  const { bytes } = await countObjects(quarantine.path);
  return (await may(actor, "repo.write", repoResource(repo)))
    ? holdStorage(repo.owner, bytes, "this commit")
    : holdProposal(actor, repo, bytes, "this commit");
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
    throw new ServiceError("precondition_failed", "The branch has its first commit by now. Look at it, then try again.");
  if (!isCommitName(wanted)) throw new ServiceError("invalid_request", "The parent commit is named by 5 to 40 hex digits.");
  if (head?.startsWith(wanted.toLowerCase())) return;
  throw new ServiceError(
    "precondition_failed",
    head
      ? `The branch has moved on: its latest commit is ${head}, not ${wanted}. Look at what has changed, then commit again.`
      : `The branch has no commit, so that ${wanted} is not its latest.`,
  );
}

const isCommitName = (text: string): boolean => /^[0-9a-f]{5,40}$/i.test(text);

/** A commit in the history of the branch: on any other, what was taken away could be brought back to light. */
async function resolveAncestor({ repo, path }: Draft, wanted: string, base: string): Promise<string> {
  if (base.startsWith(wanted.toLowerCase()) && isCommitName(wanted)) return base;
  const sha = await findCommit(repo, path, wanted);
  if (await isAncestor(path, sha, base)) return sha;
  throw new ServiceError("precondition_failed", `${wanted} is not a commit of the branch that this is for.`);
}

/** The import that is under way; a new one for each attempt, started when it is first needed. */
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
