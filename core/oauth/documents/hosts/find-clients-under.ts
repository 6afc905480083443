import type { Db } from "#core/db.ts";
import { hostnameOf } from "../document-address.ts";
import { type HostRule, standingOf } from "./judge-host.ts";

export type ClientUnderHost = { clientId: string; name: string };

/** The clients that blocking `host` excludes: those on it and its subdomains that no more specific rule allows. */
export async function findClientsUnder(tx: Db, host: string): Promise<ClientUnderHost[]> {
  const subdomain = `.${host}`;
  const below = (await tx.oAuthClientHost.findMany({ where: { host: { endsWith: subdomain } } })) as HostRule[];
  const rules: HostRule[] = [{ host, rule: "block" }, ...below];
  const documents = await tx.oAuthClientDocument.findMany({
    where: { clientId: { contains: host } },
    select: { clientId: true, metadata: true },
  });
  return documents
    .filter(({ clientId }) => {
      const hostname = hostnameOf(clientId);
      return (hostname === host || hostname.endsWith(subdomain)) && !standingOf(hostname, rules, "open").isAllowed;
    })
    .map(({ clientId, metadata }) => ({ clientId, name: (metadata as { client_name: string }).client_name }));
}
