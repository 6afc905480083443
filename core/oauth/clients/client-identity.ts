import { hash } from "node:crypto";
import type { Client } from "oidc-provider";

/** True for an https URL of another host than the user's device (RFC 8252 §8.6). */
export function isRedirectUriBoundToClient(redirectUri: string): boolean {
  const url = URL.parse(redirectUri);
  return url?.protocol === "https:" && !isLoopbackHost(url.hostname);
}

/**
 * RFC 6761 §6.3, RFC 5735 §3.
 * @param hostname in the form of `URL.hostname`
 */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "");
  return host === "localhost" || host.endsWith(".localhost") || host.startsWith("127.") || host === "[::1]";
}

/** If one of these values changes, the user is asked again (S36). */
export function clientFingerprint(client: Pick<Client, "clientName" | "redirectUris" | "logoUri">): string {
  const looks = [client.clientName ?? "", client.logoUri ?? "", ...[...(client.redirectUris ?? [])].sort()];
  return hash("sha256", JSON.stringify(looks), "base64url");
}
