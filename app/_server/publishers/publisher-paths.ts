import { repoPath } from "@keyhook/sdk";
import type { RepoName } from "#core/hub/repos/find-repo.ts";

/** Whom the person trusts to read as them. */
export const ownPublishersPath = "/settings/publishers";

/** Whom a repository trusts. */
export function repoPublishersPath({ type, owner, name }: RepoName): string {
  return `${repoPath(type, `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`)}/settings/publishers`;
}
