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

/** The segments of the rewritten URL (next.config.js). */
export type RepoParams = Promise<{ type: string; owner: string; name: string }>;

export type RepoPage = Readonly<{
  repo: Repo;
  actor: Actor;
  session: SiteSession | undefined;
  person: Person | undefined;
  /** Whether the user has the right to write, and the repository is neither read-only nor on another platform. */
  mayWrite: boolean;
  mayManage: boolean;
  /** False for a gated repository without access. */
  mayReadContent: boolean;
}>;

/** 404 for users who may not see the repository (S136). Another spelling or a former name redirects to the current URL. */
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
  // Users paste clone URLs into the browser. No name ends in `.git`.
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
    // The organization's page lists what the member must do first. Whether the repository exists stays secret (S136).
    if (isServiceError(error) && error.requires?.securityRestrictions) redirect(organizationPath(name.owner));
    throw error;
  }
}

/** Returns an empty text if Next runs without server.ts. */
function restOfUrl(): string {
  const { address = "" } = requestContext.getStore() ?? {};
  const { pathname, searchParams, search } = new URL(address, "http://page.invalid");
  const [, rest = ""] = /^\/(?:(?:datasets|spaces)\/)?[^/]+\/[^/]+(\/.*)?$/.exec(pathname) ?? [];
  // Next's own scripts add this parameter.
  searchParams.delete("_rsc");
  return rest + (search && searchParams.size > 0 ? `?${searchParams}` : "");
}

/** The browser may send any value back. @throws ServiceError `not_found` if the value is not a repository's name */
export function submittedRepoName(value: RepoName): RepoName {
  const { type, owner, name } = Object(value) as Record<keyof RepoName, unknown>;
  if (!isRepoType(type) || !isText(owner) || !isText(name)) throw notFoundError("Repository");
  return { type, owner, name };
}

export const isText = (value: unknown): value is string => typeof value === "string" && value.isWellFormed();

export function repoNameOf({ type, owner, name }: Pick<Repo, "type" | "owner" | "name">): RepoName {
  return { type, owner: owner.handle, name };
}

/** Next passes segments as the browser encoded them. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    notFound();
  }
}

/** An encoded slash stays inside its segment, as in `feature%2Fx`. */
export function decodeSegments(segments: readonly string[] = []): string[] {
  return segments.map(decodeSegment);
}

export function repoHref(repo: Pick<Repo, "type" | "fullName">, ...segments: readonly string[]): string {
  return [repoPath(repo.type, repo.fullName), ...segments.map(encodeURIComponent)].join("/");
}

export function repoNameHref({ type, owner, name }: RepoName, ...segments: readonly string[]): string {
  return repoHref({ type, fullName: `${encodeURIComponent(owner)}/${encodeURIComponent(name)}` }, ...segments);
}

/** Does not encode the slashes of the path. */
export function repoFileHref(
  repo: Pick<Repo, "type" | "fullName">,
  kind: "tree" | "blob" | "raw" | "resolve" | "commits" | "edit" | "new" | "upload" | "delete",
  revision: string,
  path = "",
): string {
  return repoHref(repo, kind, revision, ...path.split("/").filter(Boolean));
}

export function repoListHref(type: Repo["type"]): string {
  return `/${apiSegments[type]}`;
}
