import { pool } from "#core/db.ts";
import { findClientMetadata } from "../clients.ts";

type Token = { kind?: string; clientId?: string; aud?: string | string[] };

/**
 * Who may ask about a token: the client that has it and, of an access token, the service that it is for (RFC 7662 §2.1, S104); the
 * latter only while that client is let in (S87), since at our own doors its tokens are dead too.
 */
export async function mayIntrospect(clientId: string, { kind, clientId: holder, aud }: Token): Promise<boolean> {
  if (holder === clientId) return true;
  if (kind !== "AccessToken" || typeof aud !== "string") return false;
  const { rowCount } = await pool().query({
    name: "resource-servers-introspect",
    text: `SELECT 1 FROM oauth_resource_server r JOIN oauth_app a ON a.id = r.app_id WHERE r.identifier = $1 AND a.client_id = $2`,
    values: [aud, clientId],
  });
  return rowCount === 1 && holder !== undefined && (await findClientMetadata(holder)) !== undefined;
}
