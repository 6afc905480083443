import { plainText } from "#core/accounts/plain-text.ts";
import { ServiceError } from "#core/errors.ts";

const HOST_MAX_CHARACTERS = 253;

/**
 * Whether a host, as the URL class writes it, is one that a rule can be made for; a document on any other is taken from nobody, or
 * it could not be blocked (S87). With the underscore, which is in names of hosts that share the certificate of their parent.
 */
export function isHostName(hostname: string): boolean {
  return hostname.length <= HOST_MAX_CHARACTERS && /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/.test(hostname);
}

/**
 * The name of a host as an operator types or pastes it: `example.com`, or an address on it. A rule for it covers its subdomains,
 * so that the star of `*.example.com` says nothing more and is left out.
 * @returns the name as the URL class writes it: lower case, international names as `xn--…`
 * @throws ServiceError `invalid_request`
 */
export function parseHostName(value: unknown, field = "host"): string {
  const text = plainText(field, value, 2_000).trim();
  const url = URL.parse(text.includes("://") ? text : `https://${text.replace(/^\*\./, "")}`);
  const hostname = url?.hostname.replace(/\.$/, "") ?? "";
  if (!url || !isHostName(hostname) || url.username || url.password) {
    throw new ServiceError("invalid_request", "Enter the name of a host, such as example.com.", { field });
  }
  if (url.port) throw new ServiceError("invalid_request", "Leave out the port: a rule is for the whole host.", { field });
  return hostname;
}

/** The name itself and those it is a subdomain of, the most specific first: every rule that could cover it has one of them. */
export function namesCovering(hostname: string): string[] {
  const labels = hostname.split(".");
  return labels.map((_, at) => labels.slice(at).join("."));
}
