import { db } from "#core/db.ts";
import { namesCovering } from "../documents/hosts/host-name.ts";
import { type HostRule, standingOf } from "../documents/hosts/judge-host.ts";
import { ProtocolError } from "../protocol-request.ts";
import type { RegisteredSettings } from "./registration-metadata.ts";

/**
 * A host that the operator has blocked (S87) does not come back by registering: neither as where people are sent nor as what an app
 * says it is. The policy for metadata documents is not asked, which is about them only.
 * @throws ProtocolError 400 `invalid_redirect_uri`, `invalid_client_metadata`
 */
export async function refuseBlockedHosts({ redirectUris, homepageUrl }: RegisteredSettings): Promise<void> {
  const named: [field: string, hostname: string][] = [
    ...redirectUris.map((uri): [string, string] => ["redirect_uris", hostOf(uri)]),
    ...(homepageUrl ? [["client_uri", hostOf(homepageUrl)] as [string, string]] : []),
  ];
  const names = [...new Set(named.flatMap(([, hostname]) => namesCovering(hostname)))];
  const rules = (await db().oAuthClientHost.findMany({ where: { host: { in: names } } })) as HostRule[];
  const blocked = named.find(([, hostname]) => !standingOf(hostname, rules, "open").isAllowed);
  if (!blocked) return;
  const [field, hostname] = blocked;
  const error = field === "redirect_uris" ? "invalid_redirect_uri" : "invalid_client_metadata";
  throw new ProtocolError(400, error, `${field}: the operator of this service does not let apps of ${hostname} sign people in`);
}

/** Private-use schemes have none. */
function hostOf(uri: string): string {
  const url = URL.parse(uri);
  return url && /^https?:$/.test(url.protocol) ? url.hostname.replace(/\.$/, "") : "";
}
