import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { db, pool } from "#core/db.ts";
import { type ClientUnderHost, findClientsUnder } from "./find-clients-under.ts";
import { parseHostName } from "./host-name.ts";

export type HostBlockPreview = {
  /** In the form in which a rule for it would be stored. */
  host: string;
  clients: ClientUnderHost[];
  /** Users who currently allow one of them. */
  userCount: number;
};

/**
 * What blocking a host would end, for an operator who is about to block it.
 * @param host as typed: a name, or a URL on the host
 * @throws ServiceError `forbidden`; `invalid_request` with the field
 */
export async function previewHostBlock(actor: Actor, host: string): Promise<HostBlockPreview> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const name = parseHostName(host);
  const clients = await findClientsUnder(db(), name);
  const { rows } = await pool().query<{ users: number }>(
    "SELECT count(DISTINCT user_id)::int AS users FROM oauth_consent WHERE client_id = ANY ($1) AND revoked_at IS NULL",
    [clients.map(({ clientId }) => clientId)],
  );
  return { host: name, clients, userCount: rows[0]?.users ?? 0 };
}
