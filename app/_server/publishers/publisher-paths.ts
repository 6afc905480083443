import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { repoNameHref } from "../repo-page.ts";

export const ownPublishersPath = "/settings/publishers";

export const repoPublishersPath = (repo: RepoName): string => repoNameHref(repo, "settings", "publishers");
