import { apiSegments, isRepoType, repoPath, repoTypeOfSegment } from "@keyhook/sdk";
import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { type Actor, anonymous, type Person, personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { isServiceError, notFound as notFoundError } from "#core/errors.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import { type Repo, repoResource } from "#core/hub/repos/repo.ts";
import { requestContext } from "#core/log.ts";
import { organizationPath } from "./organization-page.ts";
import { currentSession, type SiteSession } from "./session.ts";

/** A repository's segments in the rewritten URL (next.config.js). */
export type RepoParams = Promise<{ type: string; owner: string; name: string }>;

export type RepoPage = Readonly<{
  repo: Repo;
  /** The actor for core: the person, or an anonymous visitor. */
  actor: Actor;
  session: SiteSession | undefined;
  person: Person | undefined;
  /**
   * Whether the person may change content now: they have the right, and the repository is neither read-only nor on another
   * platform.
   */
  mayWrite: boolean;
  /** Whether the person may change settings, move and delete the repository. */
  mayManage: boolean;
  /** Whether the person may read the repository's files; false if it is gated and they have no access. */
  mayReadContent: boolean;
}>;

/**
 * The data that the layout and every page of a repository read first, once per request. 404 for people who may not see the repository,
 * whether it exists or not (S136). A URL with another spelling or a former name redirects to the current URL.
 */
export async function repoPage(params: RepoParams): Promise<RepoPage> {
  const { type, owner, name } = await params;
  return readRepoPage(type, decodeSegment(owner), decodeSegment(name));
}

const readRepoPage = cache(async (segment: string, owner: string, asked: string): Promise<RepoPage> => {
  const type = repoTypeOfSegment(segment);
  if (!type) notFound();
  const session = await currentSession();
  const person = session && personActor(session);
  const actor = person ?? anonymous;
  // People paste clone URLs into the browser. No name ends in `.git`.
  const name = asked.replace(/\.git$/i, "");
  const repo = await findOrNotFound(actor, { type, owner, name });
  if (repo.owner.handle !== owner || repo.name !== asked) redirect(repoPath(type, repo.fullName) + restOfUrl());
  const resource = repoResource(repo);
  const [hasWrite, mayManage, mayReadContent] = await Promise.all([
    may(actor, "repo.write", resource),
    may(actor, "repo.manage", resource),
    may(actor, "repo.read_content", resource),
  ]);
  const mayWrite = hasWrite && !repo.isReadOnly && repo.platformId === null;
  return { repo, actor, session, person, mayWrite, mayManage, mayReadContent };
});

async function findOrNotFound(actor: Actor, name: RepoName): Promise<Repo> {
  try {
    return await findRepo(actor, name);
  } catch (error) {
    if (isServiceError(error) && error.code === "not_found") notFound();
    // The organization's page lists its requirements. Whether the repository exists stays secret (S136).
    if (isServiceError(error) && error.requires?.securityRestrictions) redirect(organizationPath(name.owner));
    throw error;
  }
}

/** The part of the requested URL after the repository's path; empty if Next runs without server.ts. */
function restOfUrl(): string {
  const { address = "" } = requestContext.getStore() ?? {};
  const { pathname, searchParams, search } = new URL(address, "http://page.invalid");
  const [, rest = ""] = /^\/(?:(?:datasets|spaces)\/)?[^/]+\/[^/]+(\/.*)?$/.exec(pathname) ?? [];
  // Next's own scripts add this parameter.
  searchParams.delete("_rsc");
  return rest + (search && searchParams.size > 0 ? `?${searchParams}` : "");
}

/**
 * Checks the name of a repository that an action was bound to. The browser sends it back, so it may have any value.
 * @throws ServiceError `not_found` if it is not a repository's name
 */
export function submittedRepoName(value: RepoName): RepoName {
  const { type, owner, name } = Object(value) as Record<keyof RepoName, unknown>;
  if (!isRepoType(type) || !isText(owner) || !isText(name)) throw notFoundError("Repository");
  return { type, owner, name };
}

/** Whether a value is text that can be part of a URL. */
export const isText = (value: unknown): value is string => typeof value === "string" && value.isWellFormed();

/** The name that a page's forms bind to their actions. */
export function repoNameOf({ type, owner, name }: Pick<Repo, "type" | "owner" | "name">): RepoName {
  return { type, owner: owner.handle, name };
}

/** A segment of a URL as text: Next passes segments as the browser sent them. 404 for a segment that is not valid. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    notFound();
  }
}

/** Segments below a repository (`tree/main/a%20b`) as text. An encoded slash (`feature%2Fx`) stays inside its segment. */
export function decodeSegments(segments: readonly string[] = []): string[] {
  return segments.map(decodeSegment);
}

/** The URL of a page of a repository. Each segment is encoded, so that it can be any path or branch. */
export function repoHref(repo: Pick<Repo, "type" | "fullName">, ...segments: readonly string[]): string {
  return [repoPath(repo.type, repo.fullName), ...segments.map(encodeURIComponent)].join("/");
}

/** The URL of a page of a repository when only its name is known. */
export function repoNameHref({ type, owner, name }: RepoName, ...segments: readonly string[]): string {
  return repoHref({ type, fullName: `${encodeURIComponent(owner)}/${encodeURIComponent(name)}` }, ...segments);
}

/** The URL of a file or a folder of a revision. The slashes of its path are not encoded. */
export function repoFileHref(
  repo: Pick<Repo, "type" | "fullName">,
  kind: "tree" | "blob" | "raw" | "resolve" | "commits" | "edit" | "new" | "upload" | "delete",
  revision: string,
  path = "",
): string {
  return repoHref(repo, kind, revision, ...path.split("/").filter(Boolean));
}

/** The list of all repositories of a type. */
export function repoListHref(type: Repo["type"]): string {
  return `/${apiSegments[type]}`;
}
