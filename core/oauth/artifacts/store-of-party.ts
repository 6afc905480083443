import { Provider } from "oidc-provider";
import { addressKey } from "#core/accounts/address-key.ts";
import { hashToken } from "#core/crypto/token.ts";
import { pool } from "#core/db.ts";
import { type Payload, upsertArtifact } from "./artifact-store.ts";

/**
 * A party is an account, an address, a client or a site session. `isEvictable` is SQL. Reading the payload there would be slow.
 */
type StoredLimit = { ofParty: number; inAll?: number; isEvictable: string };

/** Above the limit, an old row is deleted. A refusal would let one flood lock out everybody at its address (S143). */
export const STORED_LIMITS = {
  // Answered interactions count too: strangers can answer theirs and never return.
  Interaction: { ofParty: 1_000, inAll: 20_000, isEvictable: "true" },
  // An address may request 300 a minute (prepare-authorization.ts), and each code lives for 15 minutes.
  DeviceCode: { ofParty: 5_000, inAll: 50_000, isEvictable: "account_id IS NULL" },
  PushedAuthorizationRequest: { ofParty: 10_000, inAll: 50_000, isEvictable: "true" },
  Session: { ofParty: 50, isEvictable: "true" },
} as const satisfies Record<string, StoredLimit>;

/** Rows of all parties are counted once per this many stored rows, because counting them is slow. */
const STORED_BETWEEN_COUNTS = 50;
let storedSinceCount = 0;
const DROPPED_AT_ONCE = 100;

const WITHIN = ".";

/** @param party by default the authenticated client, the account or the address */
export async function storeOfParty(
  model: keyof typeof STORED_LIMITS,
  id: string,
  payload: Payload,
  expiresIn: number,
  party?: string,
): Promise<void> {
  const key = (party === undefined ? await partyOfRequest(model) : [party]).map(hashToken).join(WITHIN);
  await upsertArtifact(model, id, payload, expiresIn, key);
  await dropOldestOf(model, key);
  storedSinceCount += 1;
  if (storedSinceCount < STORED_BETWEEN_COUNTS) return;
  storedSinceCount = 0;
  for (const [each, limit] of Object.entries(STORED_LIMITS)) if ("inAll" in limit) await dropOldest(each, limit);
}

/** An account may create hundreds of clients, so all their rows count for the account. */
async function partyOfRequest(model: keyof typeof STORED_LIMITS): Promise<string[]> {
  const ctx = Provider.ctx;
  const { client, session } = ctx?.oidc ?? {};
  // An address counts by its /48, as in core/fair-queue/party.ts.
  const address = `address ${addressKey(ctx?.ip ?? null, 48) ?? "unknown"}`;
  const isProved = model === "PushedAuthorizationRequest" && client?.clientAuthMethod !== "none";
  // A client with a metadata document has no owner. One host can publish any number of such clients.
  if (client && isProved) {
    const owner = await ownerOf(client.clientId);
    return [owner ? `account ${owner}` : address, `client ${client.clientId}`];
  }
  return [session?.accountId ? `account ${session.accountId}` : address];
}

/** An organization counts as its first administrator, because one user may create many organizations. */
export async function ownerOf(clientId: string): Promise<string | undefined> {
  const { rows } = await pool().query<{ id: string | null }>({
    name: "owner-of-client",
    text: `SELECT coalesce(owner_user_id, (SELECT user_id FROM membership WHERE org_id = owner_org_id AND role = 'admin'
        ORDER BY created_at, user_id LIMIT 1), owner_org_id) AS id FROM oauth_app WHERE client_id = $1`,
    values: [clientId],
  });
  return rows[0]?.id ?? undefined;
}

/** Without a name, Postgres plans the query each time. A generic plan would sort all rows. */
async function dropOldestOf(model: keyof typeof STORED_LIMITS, party: string): Promise<void> {
  const { ofParty, isEvictable } = STORED_LIMITS[model];
  await pool().query({
    text: `DELETE FROM oauth_artifact WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM oauth_artifact WHERE model = $1 AND party = $2 AND ${isEvictable}
      ORDER BY created_at DESC OFFSET $3 LIMIT ${DROPPED_AT_ONCE}))`,
    values: [model, party, ofParty],
  });
}

/** Deletes the oldest rows of the parties with the most rows, so that a flood displaces its own rows. */
export async function dropOldest(model: string, { inAll, isEvictable }: { inAll: number; isEvictable: string }): Promise<void> {
  await pool().query({
    text: `DELETE FROM oauth_artifact WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM (
        SELECT ctid, created_at, row_number() OVER (PARTITION BY split_part(party, '${WITHIN}', 1) ORDER BY created_at DESC) AS rank
        FROM oauth_artifact WHERE model = $1 AND party IS NOT NULL AND ${isEvictable}) AS ranked
      ORDER BY rank DESC, created_at
      LIMIT greatest(0, (SELECT count(*) FROM oauth_artifact WHERE model = $1 AND party IS NOT NULL AND ${isEvictable}) - $2)))`,
    values: [model, inAll],
  });
}
