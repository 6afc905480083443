import { isOwnHost } from "@keyhook/sdk";
import { env } from "#core/env.ts";
import { isLoopbackHost } from "../clients/client-identity.ts";
import { isHostName } from "./hosts/host-name.ts";

/** Generated client IDs never begin with this scheme (S85). */
export function isDocumentAddress(clientId: string): boolean {
  return clientId.startsWith("https://");
}

export function hostnameOf(clientId: string): string {
  return URL.parse(clientId)?.hostname ?? "";
}

/** Short enough for headers and indexes. */
const ADDRESS_MAX_CHARACTERS = 1_000;

const PATH = /^https:\/\/[^/?#]*([^?#]*)/;

/**
 * Two spellings of one URL must not be accepted (S69). Needs no lookup, so callers check it first (S68).
 * @returns a sentence for the app's developer, or undefined
 */
export function explainDocumentAddress(clientId: string): string | undefined {
  if (clientId.length > ADDRESS_MAX_CHARACTERS)
    return `It is longer than ${ADDRESS_MAX_CHARACTERS.toLocaleString("en")} characters.`;
  const url = URL.parse(clientId);
  if (!url) return "It is not a full URL, such as https://app.example.com/.well-known/oauth-cimd.";
  if (url.protocol !== "https:") return "It must begin with https://.";
  if (url.username || url.password) return "It must not contain a username or a password.";
  if (clientId.includes("#")) return "It must not have a fragment: nothing may follow a #.";
  const path = PATH.exec(clientId)?.[1] ?? "";
  if (path === "" || path === "/") return "It needs a path, such as /.well-known/oauth-cimd.";
  if (hasDotSegment(path)) return "It must not have . or .. segments in its path, encoded or not.";
  if (url.href !== clientId) return `It must be written in normalized form: ${url.href}`;
  if (url.hostname.endsWith(".")) return "Its host name must not end in a dot.";
  if (!isHostName(url.hostname)) return "Its host name is too long or has invalid characters.";
  // Any user can publish files on this service's own host.
  if (isOwnHost(url, env().ORIGIN)) return "It must not be on the host of this service.";
  if (isLoopbackHost(new URL(env().ORIGIN).hostname)) return undefined;
  // S78: another port of a host may belong to somebody else.
  if (url.port) return "It must be served on port 443.";
  return isLoopbackHost(url.hostname) ? "It must be on a public host." : undefined;
}

/** Code that decodes such a path and code that compares it could mean different URLs. */
function hasDotSegment(path: string): boolean {
  try {
    return decodeURIComponent(path)
      .split(/[/\\]/)
      .some((segment) => segment === "." || segment === "..");
  } catch {
    return true;
  }
}

/**
 * See S78.
 * @returns undefined if all ports are allowed
 */
export function allowedPorts(): readonly number[] | undefined {
  return isLoopbackHost(new URL(env().ORIGIN).hostname) ? undefined : [443];
}
