import { notFound, redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { isRefName } from "#core/hub/git/refs/ref-name.ts";
import { resolveRef } from "#core/hub/git/refs/resolve-ref.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { repoResource } from "#core/hub/repos/repo.ts";
import { signInPath } from "../../../../../_server/next-path.ts";
import {
  decodeSegment,
  decodeSegments,
  type RepoPage,
  type RepoParams,
  repoFileHref,
  repoPage,
} from "../../../../../_server/repo-page.ts";

export type EditingParams = Promise<{ rev: string; path?: string[] }>;
export type EditingKind = "new" | "edit" | "upload" | "delete";

export type EditingPage = Omit<RepoPage, "person"> & {
  person: Person;
  branch: string;
  /** The commit that the branch is at; null while it has none. */
  head: string | null;
  /** Of the file; of the folder for what is new. */
  path: string;
  /** May propose the change instead of making it. */
  mayPropose: boolean;
};

/**
 * What every page that changes files starts from. Who is not signed in goes to do so and comes back; 404 for what is no branch, and for
 * those who may neither change nor propose.
 */
export async function editingPage(params: RepoParams & EditingParams, kind: EditingKind): Promise<EditingPage> {
  const [page, { rev, path: segments }] = await Promise.all([repoPage(params), params]);
  const { repo, person, mayWrite, mayReadContent } = page;
  const [branch, path] = [decodeSegment(rev), decodeSegments(segments).join("/")];
  if (repo.platformId !== null || repo.isReadOnly || !mayReadContent || !isRefName(branch)) notFound();
  if (!person) redirect(signInPath(repoFileHref(repo, kind, branch, path)));
  const mayPropose = repo.hasDiscussions && (await may(person, "discussion.write", repoResource(repo)));
  if (!mayWrite && !mayPropose) notFound();
  const head = await resolveRef(await openRepository(repo), `refs/heads/${branch}`);
  if (head === null && branch !== repo.defaultBranch) notFound();
  return { ...page, person, branch, head, path, mayPropose };
}
