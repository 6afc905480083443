import { repoTypeOfSegment } from "@keyhook/sdk";
import type { RepoName } from "#core/hub/repos/find-repo.ts";

/**
 * The URLs under which git finds a repository: of a model with or without `models/`, of others with their type
 * (docs/specification/repositories-and-git.md#addresses).
 */
export const gitPaths = ["/:owner/:name", "/:type{models|datasets|spaces}/:owner/:name"] as const;

/** The repository that such a URL names, with or without `.git`. */
export function repoNameOf({ type, owner = "", name = "" }: { type?: string; owner?: string; name?: string }): RepoName {
  return { type: repoTypeOfSegment(type ?? "models") ?? "model", owner, name: name.replace(/\.git$/, "") };
}
