import { hash } from "node:crypto";
import { pool } from "#core/db.ts";

/**
 * How long after its own end a proof is remembered. The engine takes a DPoP proof for five minutes around the time it was made and
 * asks for as long a memory, counted from its use; one from a clock that is five minutes ahead stays fresh for ten.
 */
const CLOCK_AHEAD_SECONDS = 300;

const REMEMBER = `INSERT INTO oauth_artifact (model, id_hash, payload, expires_at) VALUES ('ReplayDetection', $1, '{}', to_timestamp($2))
  ON CONFLICT (model, id_hash) DO UPDATE SET expires_at = excluded.expires_at WHERE oauth_artifact.expires_at < now()`;

/**
 * Whether this is the first time that a client uses a `jti`: of a client assertion (RFC 7523 §3, S73) or a DPoP proof (RFC 9449
 * §11.1). One conditional insert answers and remembers, so that of requests at the very same moment one is the first. What is kept
 * is a hash, swept when it is over.
 * @param until Unix seconds from which the `jti` is worth nothing anyway.
 */
export async function isFirstUse(clientId: string, jti: string, until: number): Promise<boolean> {
  const id = hash("sha256", `${clientId}\0${jti}`, "base64url");
  const values = [id, until + CLOCK_AHEAD_SECONDS];
  const { rowCount } = await pool().query({ name: "replay-remember", text: REMEMBER, values });
  return rowCount === 1;
}
