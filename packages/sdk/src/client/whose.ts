import type { Transport } from "./transport.ts";

/** The last argument of every operation. */
export type Asked = { signal?: AbortSignal | undefined };
/** Whose it is: an organization's, by its handle, or else the caller's own. */
export type Whose = Asked & { organization?: string | undefined };

/** A part of a path: a slash in it does not lead elsewhere, nor do `.` and `..`, which would be taken out of the address. */
export function part(text: string): string {
  if (text === "" || text === "." || text === "..") throw new TypeError(`${JSON.stringify(text)} is no name and no id`);
  return encodeURIComponent(text);
}

/** `owner/name` as two parts of a path. */
export function fullNamePath(fullName: string): string {
  const [owner, name, ...more] = fullName.split("/");
  if (!owner || !name || more.length > 0) throw new TypeError(`Write owner/name, not ${JSON.stringify(fullName)}`);
  return `${part(owner)}/${part(name)}`;
}

/** Under which settings are found: one's own, and an organization's. */
export const settingsPath = (organization: string | undefined): string =>
  organization === undefined ? "/api/settings" : `/api/organizations/${part(organization)}/settings`;

/** Who the token is of. */
export type OwnName = (asked?: Asked) => Promise<string>;

export type Resource = (transport: Transport, ownName: OwnName) => unknown;
