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

/** Clients request another token a minute before the end. */
const TOKEN_SECONDS = 15 * 60;
const PREFIX = "xet_";

export type XetRight = "read" | "write";

/** What a Xet token allows. Xet's own API does not accept the hub's tokens. */
type Grant = {
  repoId: string;
  right: XetRight;
  revision: string;
  /** Undefined for an anonymous caller. */
  holder?: Uploader | undefined;
  expiresAt: number;
};

type XetAccess = { casUrl: string; accessToken: string; exp: number };

/** Clients remember uploads by this URL for three weeks, so a new repository of the same name needs another URL. */
export const xetUrlOf = (repoId: string): string => `${env().ORIGIN}/xet/${repoId}`;

export const xetTokenUrlOf = (repo: Repo, right: XetRight, revision: string): string =>
  `${env().ORIGIN}${repoApiPath(repo.type, repo.fullName)}/xet-${right}-token/${encodeURIComponent(revision)}${repo.proposedToId === null ? "" : "?create_pr=1"}`;

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

type XetPermit = { repo: Repo; mayStill: () => Promise<Repo> };

/** Checks the holder's right again (S135). `asked` is the repository in the URL, and the right that the request needs. */
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

/** Existing tokens are invalid while Xet is off. */
function requireXet(): void {
  if (!isXetEnabled()) throw notFound("Xet");
}

const PURPOSE = "xet tokens";
const signedText = (payload: string): string => `${env().ORIGIN}\n${payload}`;
