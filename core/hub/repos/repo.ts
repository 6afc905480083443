import { type EventPayload, type Gate, type RepoType, repoApiPath, repoPath } from "@keyhook/sdk";
import type { RepoResource } from "../../access/rule.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { env } from "../../env.ts";
import { invalidRequest } from "../../errors.ts";

export type Repo = {
  id: string;
  type: RepoType;
  owner: { kind: "user" | "organization"; id: string; handle: string };
  name: string;
  fullName: string;
  isPrivate: boolean;
  gated: Gate;
  gatePrompt: string | null;
  sdk: string | null;
  description: string | null;
  defaultBranch: string;
  /** Null while the default branch has no commit. */
  headSha: string | null;
  sizeBytes: number;
  lfsBytes: number;
  lfsRemovedAt: Date | null;
  tags: string[];
  card: Record<string, unknown> | null;
  isReadOnly: boolean;
  isDefaultBranchProtected: boolean;
  hasDiscussions: boolean;
  likes: number;
  createdById: string | null;
  createdByClientId: string | null;
  /** Set if a platform hosts the repository, whose git data is not here. */
  platformId: string | null;
  externalId: string | null;
  externalUrl: string | null;
  /** Set for a store of proposals: the repository's ID. */
  proposedToId: string | null;
  createdAt: Date;
  updatedAt: Date;
};

export function repoResource(
  repo: Pick<Repo, "id" | "owner" | "isPrivate" | "gated" | "createdById" | "createdByClientId">,
): RepoResource {
  return {
    repoId: repo.id,
    ...ownerColumns(repo.owner),
    isPrivate: repo.isPrivate,
    isGated: repo.gated !== "none",
    createdById: repo.createdById,
    createdByClientId: repo.createdByClientId,
  };
}

export function ownerColumns({ kind, id }: { kind: "user" | "organization"; id: string }) {
  return { ownerUserId: kind === "user" ? id : null, ownerOrgId: kind === "organization" ? id : null };
}

export const typeInProse = (type: RepoType): string => (type === "space" ? "Space" : type);

export function repoWebUrl({ type, fullName, externalUrl }: Pick<Repo, "type" | "fullName" | "externalUrl">): string {
  return externalUrl ?? env().ORIGIN + repoPath(type, fullName);
}

/** See docs/specification/webhooks.md#payload. */
export function repoPayload(repo: Repo, { isContent = true } = {}): EventPayload["repo"] {
  return {
    type: repo.type,
    name: repo.fullName,
    id: repo.id,
    private: repo.isPrivate,
    url: { web: repoWebUrl(repo), api: env().ORIGIN + repoApiPath(repo.type, repo.fullName) },
    owner: { id: repo.owner.id },
    ...(isContent && repo.headSha && { headSha: repo.headSha }),
    ...(repo.type === "space" && { subdomain: spaceSubdomain(repo) }),
    tags: repo.tags,
  };
}

export function spaceSubdomain({ fullName }: Pick<Repo, "fullName">): string {
  return fullName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replace(/^-|-$/g, "");
}

const REPO_NAME_MAX_CHARACTERS = 96;

// Clients check names in the same way.
const NAME_SHAPE = /^(?!.*(--|\.\.))[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?$/;
const MISLEADING_ENDING = /\.(git|ipynb|lock|atom|rss)$/i;
/** Second segments of this service's own URLs below `/<owner>/` (S139). */
const RESERVED_NAMES = new Set("activity collections datasets discussions models new raw resolve settings spaces".split(" "));

/** See S137, S139. `canonical` is unique for an owner and type. */
export function parseRepoName(value: unknown, field = "name"): { spelled: string; canonical: string } {
  const spelled = plainText(field, value, 1_000).trim();
  const refuse = (sentence: string) => invalidRequest(sentence, field);
  if (spelled === "") throw refuse("Enter a name.");
  if (spelled.length > REPO_NAME_MAX_CHARACTERS) throw refuse(`Use at most ${REPO_NAME_MAX_CHARACTERS} characters.`);
  if (!NAME_SHAPE.test(spelled)) {
    throw refuse("Use letters, digits, . _ and -; no .. or --, and neither . nor - at the beginning or the end.");
  }
  if (MISLEADING_ENDING.test(spelled)) throw refuse("The name cannot end in .git, .ipynb, .lock, .atom or .rss.");
  if (RESERVED_NAMES.has(spelled.toLowerCase())) throw refuse("This name is reserved. Choose another.");
  return { spelled, canonical: spelled.toLowerCase() };
}
