import { apiSegments, isRepoType, type RepoType, repoTypeOfSegment } from "../repos.ts";
import { fullNamePath } from "./whose.ts";

/**
 * A repository: `owner/name` of a model, `datasets/owner/name`, `spaces/owner/name`; or its type and name, as a webhook payload's `repo`
 * has them.
 */
export type RepoRef = string | { type: RepoType; name: string };

export function readRepo(repo: RepoRef): { type: RepoType; name: string } {
  if (typeof repo !== "string") {
    if (!isRepoType(repo.type)) throw new TypeError(`${JSON.stringify(repo.type)} is no type: write model, dataset or space`);
    return { type: repo.type, name: repo.name };
  }
  const [first = "", ...rest] = repo.split("/");
  const type = rest.length === 2 ? repoTypeOfSegment(first) : undefined;
  return type ? { type, name: rest.join("/") } : { type: "model", name: repo };
}

/** `/api/models/owner/name` */
export function repoPathOf(repo: RepoRef): string {
  const { type, name } = readRepo(repo);
  return `/api/${apiSegments[type]}/${fullNamePath(name)}`;
}
