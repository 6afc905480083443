import { repoApiPath } from "@keyhook/sdk";
import { type Actor, anonymous } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { isSigned, sign } from "../../crypto/seal.ts";
import { env } from "../../env.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { countAgainst } from "../../fair-queue/party.ts";
import { withObjects } from "../git/read/git-objects.ts";
import { resolveRevision } from "../git/read/revision.ts";
import { requireChangeable } from "../git/refs/require-changeable.ts";
import { openRepository } from "../git/repository.ts";
import { resolveCommitTarget } from "../git/write/change-target.ts";
import { requireUpload, uploadTargetOf } from "../lfs/proposals/proposal-store.ts";
import { actorNow, type Uploader, uploaderOf } from "../lfs/transfer/uploader.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import { readRepo } from "../repos/read-repos.ts";
import { type Repo, repoResource } from "../repos/repo.ts";

/** The lifetime of a token. Clients request another one a minute before it ends. */
const TOKEN_SECONDS = 15 * 60;
const PREFIX = "xet_";

export type XetRight = "read" | "write";

/** The content of a token for Xet's own API, which does not accept the hub's tokens: the caller's right to one repository. */
type Grant = {
  repoId: string;
  right: XetRight;
  revision: string;
  /** Undefined for somebody who is not signed in. */
  holder?: Uploader | undefined;
  expiresAt: number;
};

type XetAccess = { casUrl: string; accessToken: string; exp: number };

/**
 * The URL of Xet's API for a repository. Clients remember their uploads for three weeks, by this URL. It differs for each
 * repository, so that they never take an upload to another repository, or to a deleted one with the same name, for an upload to this
 * one.
 */
export const xetUrlOf = (repoId: string): string => `${env().ORIGIN}/xet/${repoId}`;

/** The URL at which clients get and renew a token for Xet's API. */
export const xetTokenUrlOf = (repo: Repo, right: XetRight, revision: string): string =>
  `${env().ORIGIN}${repoApiPath(repo.type, repo.fullName)}/xet-${right}-token/${encodeURIComponent(revision)}${repo.proposedToId === null ? "" : "?create_pr=1"}`;

/**
 * A token for a revision of a repository. A read token is for a caller who may read its content; a write token is for one who may upload to
 * it, or upload for a pull request (proposal-store.ts).
 * @param isPullRequest for a pull request that is about to be opened and has no revision yet
 * @throws ServiceError as `findRepo` and `uploadTargetOf`; `not_found` (RevisionNotFound, or Xet is turned off); `forbidden` for a
 * read-only repository; `conflict` for one that another platform hosts
 */
export async function createXetToken(
  actor: Actor,
  name: RepoName,
  { right, revision, isPullRequest = false }: { right: XetRight; revision: string; isPullRequest?: boolean },
): Promise<XetAccess> {
  requireXet();
  const repo = await findRepo(actor, name, right === "write" ? "repo.read" : "repo.read_content");
  if (repo.platformId) throw new ServiceError("conflict", "This repository is hosted on another platform. Use its URL there.");
  const directory = await openRepository(repo);
  if (right === "read") await withObjects(directory, (objects) => resolveRevision(objects, repo, revision));
  else {
    requireChangeable(repo);
    if (!isPullRequest) await resolveCommitTarget(actor, repo, directory, { revision, isPullRequest });
  }
  const target = right === "write" ? await uploadTargetOf(actor, repo) : repo;
  return signXetToken(target, { right, revision, holder: await uploaderOf(actor) });
}

export function signXetToken(
  repo: Pick<Repo, "id">,
  { right, revision, holder }: Pick<Grant, "right" | "revision" | "holder">,
  now = Date.now(),
): XetAccess {
  const exp = Math.floor(now / 1000) + TOKEN_SECONDS;
  const grant: Grant = { repoId: repo.id, right, revision, ...(holder && { holder }), expiresAt: exp };
  const payload = Buffer.from(JSON.stringify(grant)).toString("base64url");
  return { casUrl: xetUrlOf(repo.id), accessToken: `${PREFIX}${payload}.${sign(PURPOSE, signedText(payload))}`, exp };
}

/** A repository that may be read or written now, and a function that checks this again. */
type XetPermit = { repo: Repo; mayStill: () => Promise<Repo> };

/**
 * The repository that a token is for. Each call checks again whether its holder still has the right (S135): their own token may have been
 * revoked, or they may have left.
 * @param asked the repository in the URL, and the action
 * @throws ServiceError `unauthorized` for an invalid, expired or revoked token; `forbidden` for a token of another repository or without
 * the right; `not_found` if the repository was deleted or Xet is turned off; as `requireUpload`
 */
export async function requireXetToken(
  authorization: string | undefined,
  asked: { repoId: string; right: XetRight },
  now = Date.now(),
): Promise<XetPermit> {
  requireXet();
  const [, payload = "", signature = ""] = /^bearer +xet_([\w-]+)\.([\w-]+)$/i.exec(authorization ?? "") ?? [];
  if (!isSigned(PURPOSE, signedText(payload), signature)) {
    throw new ServiceError("unauthorized", "Send a token from this repository's xet-read-token or xet-write-token endpoint.");
  }
  const { repoId, right, holder, expiresAt } = JSON.parse(Buffer.from(payload, "base64url").toString()) as Grant;
  if (expiresAt * 1000 <= now) throw new ServiceError("unauthorized", "This token has expired. Request another one.");
  if (repoId !== asked.repoId) throw new ServiceError("forbidden", "This token is for another repository.");
  if (asked.right === "write" && right !== "write") throw new ServiceError("forbidden", "This token is for reading only.");
  const mayStill = () => requireHolder(holder, asked);
  return { repo: await mayStill(), mayStill };
}

async function requireHolder(
  holder: Uploader | undefined,
  { repoId, right }: { repoId: string; right: XetRight },
): Promise<Repo> {
  const actor = holder ? await actorNow(holder) : anonymous;
  if (!actor) throw new ServiceError("unauthorized", "This token's access was revoked. Sign in again, or use another token.");
  countAgainst(actor);
  const repo = await readRepo(repoId);
  if (!repo) throw notFound("Repository");
  if (right === "write" || repo.proposedToId !== null) return requireUpload(actor, repoId);
  await requirePermission(actor, "repo.read_content", repoResource(repo), { what: "Repository" });
  return repo;
}

export const isXetEnabled = (): boolean => env().XET === "1";

/** No tokens are issued while the operator has turned Xet off, and existing ones are invalid. @throws ServiceError `not_found` */
function requireXet(): void {
  if (!isXetEnabled()) throw notFound("Xet");
}

const PURPOSE = "xet tokens";
const signedText = (payload: string): string => `${env().ORIGIN}\n${payload}`;
