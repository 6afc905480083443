import { apiSegments, isRepoType, type RepoType, repoTypeOfSegment } from "../repos.ts";
import type { Query } from "./transport.ts";

/** The last argument of every operation. @group Client */
export type Asked = { signal?: AbortSignal | undefined };
/**
 * The last argument of operations on an owner's resources. `organization` is the handle of an organization; by default the owner is the
 * caller.
 * @group Client
 */
export type Whose = Asked & { organization?: string | undefined };

/** Encodes a part of a path. An encoded slash leads to no other URL. `.` and `..` are refused, because URLs resolve them. */
export function part(text: string): string {
  if (text === "" || text === "." || text === "..") throw new TypeError(`${JSON.stringify(text)} is neither a name nor an ID`);
  return encodeURIComponent(text);
}

export function fullNamePath(fullName: string): string {
  const [owner, name, ...more] = fullName.split("/");
  if (!owner || !name || more.length > 0) throw new TypeError(`Use owner/name, not ${JSON.stringify(fullName)}`);
  return `${part(owner)}/${part(name)}`;
}

export const settingsPath = (organization: string | undefined): string =>
  organization === undefined ? "/api/settings" : `/api/organizations/${part(organization)}/settings`;

export type OwnName = (asked?: Asked) => Promise<string>;

/**
 * A repository: `owner/name` for a model, `datasets/owner/name`, `spaces/owner/name`; or its type and name, as in `repo` of a webhook
 * payload.
 * @group Client
 */
export type RepoRef = string | { type: RepoType; name: string };

/**
 * Reads a {@link RepoRef} as a type and a name.
 * @param repo The repository, in either form.
 * @returns The type, and `owner/name`.
 * @throws TypeError if the type is not one of `model`, `dataset` and `space`.
 * @group Client
 */
export function readRepo(repo: RepoRef): { type: RepoType; name: string } {
  if (typeof repo !== "string") {
    if (!isRepoType(repo.type))
      throw new TypeError(`${JSON.stringify(repo.type)} is not a type of repository: use model, dataset or space`);
    return { type: repo.type, name: repo.name };
  }
  const [first = "", ...rest] = repo.split("/");
  const type = rest.length === 2 ? repoTypeOfSegment(first) : undefined;
  return type ? { type, name: rest.join("/") } : { type: "model", name: repo };
}

/** Returns a path such as `/api/models/owner/name`. */
export function repoPathOf(repo: RepoRef): string {
  const { type, name } = readRepo(repo);
  return `/api/${apiSegments[type]}/${fullNamePath(name)}`;
}

export function readBaseUrl(text: string): { origin: string; base: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`baseUrl: use the service's URL, such as https://hub.example.com, not ${JSON.stringify(text)}`);
  }
  if (url.username || url.password) throw new TypeError("baseUrl: leave out the username and password, and pass `token` instead");
  const base = url.origin + url.pathname.replace(/(?<!\/)\/+$/, "");
  return { origin: base, base };
}

export function addressOf(base: string, path: string, query: Query = {}): URL {
  // A path such as `.example.org` or `@host` would send the token to another server.
  if (!/^\/(?!\/)/.test(path)) throw new TypeError(`path: begin with one slash, not ${JSON.stringify(path)}`);
  const url = new URL(base + path);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const one of [value].flat()) url.searchParams.append(name, String(one));
  }
  return url;
}

/** Returns the next page's path without the origin. Behind a proxy, the service may name another origin than the client uses. */
export function nextOf(link: string | null): string | undefined {
  const address = /<([^<>]+)>\s*;\s*rel="?next"?/i.exec(link ?? "")?.[1];
  if (!address) return undefined;
  const { pathname, search } = new URL(address, "http://relative.invalid");
  return pathname + search;
}
