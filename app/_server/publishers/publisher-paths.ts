import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { repoNameHref } from "../repo-page.ts";

/** The list of publishers whose jobs may read in the person's name. */
export const ownPublishersPath = "/settings/publishers";

/** The list of a repository's trusted publishers. */
export const repoPublishersPath = (repo: RepoName): string => repoNameHref(repo, "settings", "publishers");
