import type { Actor, ActorNow } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { conflict, notFound, ServiceError } from "../../../errors.ts";
import { type Hold, holdStorage } from "../../../storage/hold-storage.ts";
import { numOfPullRequestRef } from "../../discussions/discussion.ts";
import { oneAtATime } from "../../one-at-a-time.ts";
import type { RepoName } from "../../repos/find-repo.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { moveRefs } from "../refs/change-refs.ts";
import { requireRoomForRef, resolveRef } from "../refs/git-refs.ts";
import { branchRef, isRefName, type RefChange, requireNewRefName, tagRef } from "../refs/ref-name.ts";
import { isProtectedRef } from "../refs/require-changeable.ts";
import { runGit } from "../run-git.ts";
import { commitMessage, type Signature, signatureOf, tagMessage } from "./build-commit.ts";
import { findCommit, findRevision, openForChange, requireOpenPullRequest } from "./change-target.ts";
import { openQuarantine, type Quarantine } from "./quarantine.ts";

type NewBranch = {
  branch: string;
  startingPoint?: string | undefined;
  isEmpty?: boolean | undefined;
  isOverwriting?: boolean | undefined;
};

/** Without commits, the default branch and the new branch get the same empty first commit. */
export async function createBranch(
  actor: Actor,
  name: RepoName,
  input: NewBranch,
  actorNow: ActorNow = async () => actor,
): Promise<{ repo: Repo; sha: string }> {
  const { branch, startingPoint, isEmpty = false, isOverwriting = false } = input;
  const { repo, path } = await openForChange(actor, name);
  const ref = branchRef(branch);
  const present = await resolveRef(path, ref);
  if (present && !isOverwriting) throw conflict(`Reference refs/heads/${branch} already exists.`, "branch");
  if (present && startingPoint === undefined && !isEmpty) return { repo, sha: present };
  if (!present) {
    requireNewRefName(branch, "branch");
    await requireRoomForRef(path);
  }
  const ask = (_: Actor, now: Repo) => {
    if (!present || !isProtectedRef(now, ref)) return;
    throw new ServiceError(
      "forbidden",
      `${branch} is protected: its history cannot be rewritten. You can change this in the repository's settings.`,
    );
  };
  ask(actor, repo);
  const move = async (sha: string, others: RefChange[] = [], quarantine?: Quarantine) => {
    if (sha === present) return { repo, sha };
    const changes = [...others, { ref, oldSha: present, newSha: sha }];
    const recorded = await moveRefs({ repo, path, actorNow, ask, quarantine }, changes);
    return { repo: recorded.repo, sha };
  };
  const start = isEmpty ? null : (await findRevision(repo, path, startingPoint ?? repo.defaultBranch)).sha;
  if (start) return move(start);
  return inQuarantine(path, async (quarantine) => {
    const sha = await firstCommit(actor, quarantine);
    const unborn = `refs/heads/${repo.defaultBranch}`;
    return move(sha, isEmpty || unborn === ref ? [] : [{ ref: unborn, oldSha: null, newSha: sha }], quarantine);
  });
}

async function inQuarantine<T>(path: string, work: (quarantine: Quarantine) => Promise<T>, hold?: Hold): Promise<T> {
  try {
    const quarantine = await openQuarantine(path);
    return await work(quarantine).finally(quarantine.discard);
  } finally {
    await hold?.release();
  }
}

async function firstCommit(actor: Actor, { path }: Quarantine): Promise<string> {
  return writeRootCommit(path, { message: "initial commit\n", signature: await signatureOf(actor) });
}

export async function deleteBranch(
  actor: Actor,
  name: RepoName,
  branch: string,
  actorNow: ActorNow = async () => actor,
): Promise<Repo> {
  const { repo, path } = await openForChange(actor, name);
  if (!isRefName(branch)) throw notFound("Revision");
  const ask = (_: Actor, { defaultBranch }: Repo) => {
    if (branch !== defaultBranch) return;
    throw conflict(`Cannot delete refs/heads/${branch}, because it is the default branch. Choose another default branch first.`);
  };
  ask(actor, repo);
  const ref = `refs/heads/${branch}`;
  const oldSha = await resolveRef(path, ref);
  // Scripts match this text and the texts above, so none may change.
  if (!oldSha)
    throw new ServiceError("not_found", `Invalid rev id: ${branch} is not a branch.`, { wireCode: "RevisionNotFound" });
  return (await moveRefs({ repo, path, actorNow, ask }, [{ ref, oldSha, newSha: null }])).repo;
}

type NewTag = {
  tag: string;
  revision?: string | undefined;
  message?: string | undefined;
};

export async function createTag(
  actor: Actor,
  name: RepoName,
  { tag, revision, message = "" }: NewTag,
  actorNow: ActorNow = async () => actor,
): Promise<{ repo: Repo; sha: string }> {
  const { repo, path } = await openForChange(actor, name);
  const ref = tagRef(tag);
  if (await resolveRef(path, ref)) throw conflict(`The tag ${tag} already exists.`, "tag");
  requireNewRefName(tag, "tag");
  await requireRoomForRef(path);
  const sha = await findCommit(repo, path, revision ?? repo.defaultBranch);
  const text = tagMessage(message);
  const move = async (newSha: string, quarantine?: Quarantine) => {
    const recorded = await moveRefs({ repo, path, actorNow, quarantine }, [{ ref, oldSha: null, newSha }]);
    return { repo: recorded.repo, sha };
  };
  if (!text) return move(sha);
  const annotated = { tag, commit: sha, message: text, signature: await signatureOf(actor) };
  const hold = await holdStorage(repo.owner, Buffer.byteLength(text), "this tag's message");
  return inQuarantine(path, async (quarantine) => move(await writeTag(quarantine.path, annotated), quarantine), hold);
}

export async function deleteTag(
  actor: Actor,
  name: RepoName,
  tag: string,
  actorNow: ActorNow = async () => actor,
): Promise<Repo> {
  const { repo, path } = await openForChange(actor, name);
  const ref = `refs/tags/${tag}`;
  const oldSha = isRefName(tag) ? await resolveRef(path, ref) : null;
  if (!oldSha) throw notFound("Revision");
  return (await moveRefs({ repo, path, actorNow }, [{ ref, oldSha, newSha: null }])).repo;
}

/** On a protected default branch, requires the permission to remove the protection. */
export async function superSquash(
  actor: Actor,
  name: RepoName,
  { branch, message }: { branch: string; message?: string | undefined },
  actorNow: ActorNow = async () => actor,
): Promise<{ repo: Repo; sha: string; ref: string }> {
  const { repo, path } = await openForChange(actor, name);
  const num = numOfPullRequestRef(branch);
  if (num === undefined && !isRefName(branch)) throw notFound("Revision");
  const ref = num === undefined ? `refs/heads/${branch}` : branch;
  const ask = async (now: Actor, current: Repo) => {
    if (num !== undefined) return requireOpenPullRequest(now, current, num);
    if (!isProtectedRef(current, ref)) return;
    await requirePermission(now, "repo.manage", repoResource(current), { what: "Repository" });
  };
  await ask(actor, repo);
  const text = commitMessage(message?.trim() || `Super-squash branch '${branch}'`);
  return oneAtATime(`${repo.id} ${ref}`, async () => {
    const oldSha = await resolveRef(path, ref);
    if (!oldSha) throw notFound("Revision");
    const tree = (await runGit(path, ["rev-parse", "--verify", "--end-of-options", `${oldSha}^{tree}`], { isLimited: true }))
      .toString("latin1")
      .trim();
    // Squashing can free storage, so it is allowed without free storage if the message is the usual one.
    const isFree = !message?.trim() && (await hasHistory(path, oldSha));
    const signature = await signatureOf(actor);
    const hold = isFree ? undefined : await holdStorage(repo.owner, Buffer.byteLength(text), "this commit's message");
    const squash = async (quarantine: Quarantine) => {
      const sha = await writeRootCommit(quarantine.path, { tree, message: text, signature });
      const recorded = await moveRefs({ repo, path, actorNow, ask, quarantine }, [{ ref, oldSha, newSha: sha }]);
      return { repo: recorded.repo, sha, ref };
    };
    return inQuarantine(path, squash, hold);
  });
}

async function hasHistory(path: string, sha: string): Promise<boolean> {
  const line = await runGit(path, ["rev-list", "--parents", "--max-count=1", "--end-of-options", sha], { isLimited: true });
  return line.toString("latin1").trim().includes(" ");
}

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

async function writeRootCommit(
  path: string,
  { tree = EMPTY_TREE, message, signature }: { tree?: string; message: string; signature: Signature },
): Promise<string> {
  if (tree === EMPTY_TREE) await runGit(path, ["mktree"], { input: "" });
  return writeObject(path, "commit", `tree ${tree}\nauthor ${signature}\ncommitter ${signature}\n\n${message}`);
}

async function writeTag(
  path: string,
  { tag, commit, message, signature }: { tag: string; commit: string; message: string; signature: Signature },
): Promise<string> {
  return writeObject(path, "tag", `object ${commit}\ntype commit\ntag ${tag}\ntagger ${signature}\n\n${message}`);
}

async function writeObject(path: string, type: "commit" | "tag", content: string): Promise<string> {
  return (await runGit(path, ["hash-object", "-t", type, "-w", "--stdin"], { input: content })).toString("latin1").trim();
}
