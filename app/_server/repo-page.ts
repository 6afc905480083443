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

/** A repository's segments as the rewritten address carries them (next.config.js). */
export type RepoParams = Promise<{ type: string; owner: string; name: string }>;

export type RepoPage = Readonly<{
  repo: Repo;
  /** Who asks core: the person, or anybody. */
  actor: Actor;
  session: SiteSession | undefined;
  person: Person | undefined;
  /** May change content now: has the right, and the repository is neither read-only nor held elsewhere. */
  mayWrite: boolean;
  /** May change settings, move and delete it. */
  mayManage: boolean;
  /** May read what is in its files; false for a gated repository whose gate is closed to them. */
  mayReadContent: boolean;
}>;

/**
 * What the layout and every page of a repository start from; read once a request. 404 for those who may not see it, whether it
 * exists or not (S136). Another spelling and a former name lead to the same page at its address of today.
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
  // A clone line, pasted into the browser; no name ends so.
  const name = asked.replace(/\.git$/i, "");
  const repo = await findOrNotFound(actor, { type, owner, name });
  if (repo.owner.handle !== owner || repo.name !== asked) redirect(repoPath(type, repo.fullName) + restOfAddress());
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
    // What it asks, and how to meet it, stands there; whether the repository exists is not told (S136).
    if (isServiceError(error) && error.requires?.securityRestrictions) redirect(organizationPath(name.owner));
    throw error;
  }
}

/** What follows the repository in the address that was asked for; nothing on a host without server.ts. */
function restOfAddress(): string {
  const { address = "" } = requestContext.getStore() ?? {};
  const { pathname, searchParams, search } = new URL(address, "http://page.invalid");
  const [, rest = ""] = /^\/(?:(?:datasets|spaces)\/)?[^/]+\/[^/]+(\/.*)?$/.exec(pathname) ?? [];
  // What Next's own scripts add.
  searchParams.delete("_rsc");
  return rest + (search && searchParams.size > 0 ? `?${searchParams}` : "");
}

/**
 * The name of a repository as an action was given it. It comes from the browser, so it may be anything.
 * @throws ServiceError `not_found` for what is no name
 */
export function submittedRepoName(value: RepoName): RepoName {
  const { type, owner, name } = Object(value) as Record<keyof RepoName, unknown>;
  if (!isRepoType(type) || !isText(owner) || !isText(name)) throw notFoundError("Repository");
  return { type, owner, name };
}

/** Whether what an action was given is a text that can stand in an address. */
export const isText = (value: unknown): value is string => typeof value === "string" && value.isWellFormed();

/** The name by which a page's forms tell their actions which repository it is. */
export function repoNameOf({ type, owner, name }: Pick<Repo, "type" | "owner" | "name">): RepoName {
  return { type, owner: owner.handle, name };
}

/** A segment of an address as text: Next hands pages what the browser sent. 404 for what is none. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    notFound();
  }
}

/** Segments below a repository (`tree/main/a%20b`) as text. A slash inside one (`feature%2Fx`) stays inside it. */
export function decodeSegments(segments: readonly string[] = []): string[] {
  return segments.map(decodeSegment);
}

/** The address of a page of a repository; each segment is encoded, so that any path and any branch can be one. */
export function repoHref(repo: Pick<Repo, "type" | "fullName">, ...segments: readonly string[]): string {
  return [repoPath(repo.type, repo.fullName), ...segments.map(encodeURIComponent)].join("/");
}

/** The address of a file or a folder of a revision: the slashes of its path stay. */
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
