import type { EventPayload, Gate, RepoType } from "@keyhook/sdk";
import { repoApiPath, repoPath } from "@keyhook/sdk";
import type { RepoResource } from "../../access/rules.ts";
import { env } from "../../env.ts";

/** A repository as the rest of the hub knows it, with its owner's name. */
export type Repo = {
  id: string;
  type: RepoType;
  owner: { kind: "user" | "organization"; id: string; handle: string };
  /** Without the owner. */
  name: string;
  /** `owner/name` */
  fullName: string;
  isPrivate: boolean;
  gated: Gate;
  gatePrompt: string | null;
  sdk: string | null;
  description: string | null;
  /** Without `refs/heads/`. */
  defaultBranch: string;
  /** Null while the default branch has no commit. */
  headSha: string | null;
  sizeBytes: number;
  tags: string[];
  /** The front matter of README.md. */
  card: Record<string, unknown> | null;
  isReadOnly: boolean;
  isDefaultBranchProtected: boolean;
  hasDiscussions: boolean;
  createdById: string | null;
  createdByClientId: string | null;
  /** Set where a platform beside us holds it: there is no git data here. */
  platformId: string | null;
  externalUrl: string | null;
  createdAt: Date;
  updatedAt: Date;
};

/** What core/access has to know of a repository. */
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

/** Where people find it, absolute. */
export function repoWebUrl({ type, fullName, externalUrl }: Pick<Repo, "type" | "fullName" | "externalUrl">): string {
  return externalUrl ?? env().ORIGIN + repoPath(type, fullName);
}

/** `repo` of a webhook payload (docs/specification/webhooks.md#payload). Of discussions without `headSha`. */
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

/** `owner-name`, as a label of a host name. */
export function spaceSubdomain({ fullName }: Pick<Repo, "fullName">): string {
  return fullName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replace(/^-|-$/g, "");
}
