import { plainText } from "#core/accounts/plain-text.ts";
import { invalidRequest } from "#core/errors.ts";

const HOST_MAX_CHARACTERS = 253;

/** No rule could block a host with an invalid name (S87). Underscores are valid: a certificate for `*.example` covers them. */
export function isHostName(hostname: string): boolean {
  return hostname.length <= HOST_MAX_CHARACTERS && /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/.test(hostname);
}

/**
 * A rule covers subdomains, so a leading `*.` is dropped.
 * @returns the name in the form of `URL.hostname`
 */
export function parseHostName(value: unknown, field = "host"): string {
  const text = plainText(field, value, 2_000).trim();
  const url = URL.parse(text.includes("://") ? text : `https://${text.replace(/^\*\./, "")}`);
  const hostname = url?.hostname.replace(/\.$/, "") ?? "";
  if (!url || !isHostName(hostname) || url.username || url.password) {
    throw invalidRequest("Enter a host name, such as example.com.", field);
  }
  if (url.port) throw invalidRequest("Remove the port: a rule applies to the whole host.", field);
  return hostname;
}

export function namesCovering(hostname: string): string[] {
  const labels = hostname.split(".");
  return labels.map((_, at) => labels.slice(at).join("."));
}
