import { Provider } from "oidc-provider";
import { addressKey } from "#core/accounts/address-key.ts";
import { hashToken } from "#core/crypto/token.ts";
import { pool } from "#core/db.ts";
import { type Payload, upsertArtifact } from "./artifact-store.ts";

/**
 * How many rows are kept of one party (an account, an address, a client, a site session) and of all. `mayGo` says which of them count and may
 * go. It must not read the payload: each request would read the payloads of all rows of its party.
 */
type Room = { ofParty: number; inAll?: number; mayGo: string };

/**
 * What anybody can have stored by sending requests, and how much of it is kept (S143). Past that the oldest give way, never
 * those of others: to refuse instead would let a flood shut out whoever shares its address, or everybody. A thousand people behind one
 * address may be in the middle of signing in.
 */
export const ROOMS = {
  // Answered ones too, which wait for their browser: strangers can answer theirs and never come back.
  Interaction: { ofParty: 1_000, inAll: 20_000, mayGo: "true" },
  // Three hundred a minute may come from an address (count-stored-request.ts), and live for a quarter of an hour.
  DeviceCode: { ofParty: 5_000, inAll: 50_000, mayGo: "account_id IS NULL" },
  // Of a site: nearly three sign-ins each second, as each is remembered for an hour. A request that is forgotten can only be refused.
  PushedAuthorizationRequest: { ofParty: 10_000, inAll: 50_000, mayGo: "true" },
  // A browser has one, two if two tabs began at once. Only requests that keep no cookies make more.
  Session: { ofParty: 50, mayGo: "true" },
} as const satisfies Record<string, Room>;

/** Counting all is dearer than counting one party's, and is done so often only. */
const STORED_BETWEEN_COUNTS = 50;
let storedSinceCount = 0;
/** Of one party. Each request stores one row, so there is seldom more than one to delete; no request pays for thousands. */
const DROPPED_AT_ONCE = 100;

/** Stands in a party's key between who counts in the total and which of theirs it is; in no hash. */
const WITHIN = ".";

/**
 * Stores an artifact that counts against a party, and lets the party's oldest give way.
 * @param party by default whoever sends the request: the client that has proved who it is, the account, or else the address
 */
export async function storeOfParty(
  model: keyof typeof ROOMS,
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
  for (const [each, room] of Object.entries(ROOMS)) if ("inAll" in room) await dropOldest(each, room);
}

/** A client counts by itself, and in the total with all clients of its owner: an account may make hundreds. */
async function partyOfRequest(model: keyof typeof ROOMS): Promise<string[]> {
  const ctx = Provider.ctx;
  const { client, session } = ctx?.oidc ?? {};
  // As for places in queues (core/fair-queue/party.ts): one customer may have a /48.
  const address = `address ${addressKey(ctx?.ip ?? null, 48) ?? "unknown"}`;
  const isProved = model === "PushedAuthorizationRequest" && client?.clientAuthMethod !== "none";
  // One that registered itself has no owner, nor has one with a metadata document, whose host can have any number of names.
  if (client && isProved) return [(await ownerOf(client.clientId)) ?? address, `client ${client.clientId}`];
  return [session?.accountId ? `account ${session.accountId}` : address];
}

/** An organization counts as its first administrator, who may have made many. */
async function ownerOf(clientId: string): Promise<string | undefined> {
  const { rows } = await pool().query<{ id: string | null }>({
    name: "owner-of-client",
    text: `SELECT coalesce(owner_user_id, (SELECT user_id FROM membership WHERE org_id = owner_org_id AND role = 'admin'
        ORDER BY created_at, user_id LIMIT 1), owner_org_id) AS id FROM oauth_app WHERE client_id = $1`,
    values: [clientId],
  });
  return rows[0]?.id ? `account ${rows[0].id}` : undefined;
}

/** Without a name, and so planned each time: a plan from when there were few rows reads all of the party's to sort them, in 7 ms for 0.2. */
async function dropOldestOf(model: keyof typeof ROOMS, party: string): Promise<void> {
  const { ofParty, mayGo } = ROOMS[model];
  await pool().query({
    text: `DELETE FROM oauth_artifact WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM oauth_artifact WHERE model = $1 AND party = $2 AND ${mayGo}
      ORDER BY created_at DESC OFFSET $3 LIMIT ${DROPPED_AT_ONCE}))`,
    values: [model, party, ofParty],
  });
}

/** Of all: the oldest of those who have the most give way first, so that a flood from many addresses displaces itself. */
export async function dropOldest(model: string, { inAll, mayGo }: { inAll: number; mayGo: string }): Promise<void> {
  await pool().query({
    text: `DELETE FROM oauth_artifact WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM (
        SELECT ctid, created_at, row_number() OVER (PARTITION BY split_part(party, '${WITHIN}', 1) ORDER BY created_at DESC) AS place
        FROM oauth_artifact WHERE model = $1 AND party IS NOT NULL AND ${mayGo}) AS ranked
      ORDER BY place DESC, created_at
      LIMIT greatest(0, (SELECT count(*) FROM oauth_artifact WHERE model = $1 AND party IS NOT NULL AND ${mayGo}) - $2)))`,
    values: [model, inAll],
  });
}
