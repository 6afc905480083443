import { findReadme, type Readme } from "../git/read/find-readme.ts";
import { withObjects } from "../git/read/git-objects.ts";
import { openRepository } from "../git/repository.ts";
import type { Repo } from "./repo.ts";

/** What explains a repository, on its default branch; it is part of the card, which everybody sees who may see the repository. */
export async function readFrontPage(repo: Repo): Promise<Readme | undefined> {
  const { headSha } = repo;
  if (headSha === null || repo.platformId !== null) return undefined;
  return withObjects(await openRepository(repo), (objects) => findReadme(objects, headSha));
}
