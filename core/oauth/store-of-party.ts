import { Provider } from "oidc-provider";
import { addressKey } from "#core/accounts/address-key.ts";
import { hashToken } from "#core/crypto/token.ts";
import { pool } from "#core/db.ts";
import { type Payload, upsertArtifact } from "./artifact-store.ts";

/** How many rows there are of one party (an account, an address, a client, a site session) and of all, and which of them may give way. */
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

/**
 * Stores an artifact that counts against a party, and lets the party's oldest give way.
 * @param party by default whoever sends the request: the client that has proved who it is, the account, or else the address
 */
export async function storeOfParty(
  model: keyof typeof ROOMS,
  id: string,
  payload: Payload,
  expiresIn: number,
  party: string | undefined = partyOfRequest(model),
): Promise<void> {
  const key = party === undefined ? null : hashToken(party);
  await upsertArtifact(model, id, payload, expiresIn, key);
  if (key === null) return;
  await dropOldestOf(model, key);
  storedSinceCount += 1;
  if (storedSinceCount < STORED_BETWEEN_COUNTS) return;
  storedSinceCount = 0;
  for (const [each, room] of Object.entries(ROOMS)) if ("inAll" in room) await dropOldest(each, room);
}

/** Undefined for a page that answers an interaction: the row is there, and stays whose it is. */
function partyOfRequest(model: keyof typeof ROOMS): string | undefined {
  const ctx = Provider.ctx;
  if (!ctx?.oidc) return undefined;
  const { client, session } = ctx.oidc;
  const isProved = model === "PushedAuthorizationRequest" && client?.clientAuthMethod !== "none";
  if (client && isProved) return `client ${client.clientId}`;
  if (session?.accountId) return `account ${session.accountId}`;
  // As for places in queues (core/fair-queue/party.ts): one customer may have a /48.
  return `address ${addressKey(ctx.ip, 48) ?? "unknown"}`;
}

/** Without a name, and so planned each time: a plan from when there were few rows reads all of the party's to sort them, in 7 ms for 0.2. */
async function dropOldestOf(model: keyof typeof ROOMS, party: string): Promise<void> {
  const { ofParty, mayGo } = ROOMS[model];
  await pool().query({
    text: `DELETE FROM oauth_artifact WHERE ${mayGo} AND ctid = ANY (ARRAY (
      SELECT ctid FROM oauth_artifact WHERE model = $1 AND party = $2 ORDER BY created_at DESC OFFSET $3))`,
    values: [model, party, ofParty],
  });
}

/** Of all: the oldest of those who have the most give way first, so that a flood from many addresses displaces itself. */
export async function dropOldest(model: string, { inAll, mayGo }: { inAll: number; mayGo: string }): Promise<void> {
  await pool().query({
    text: `DELETE FROM oauth_artifact WHERE ${mayGo} AND ctid = ANY (ARRAY (
      SELECT ctid FROM (
        SELECT ctid, created_at, row_number() OVER (PARTITION BY party ORDER BY created_at DESC) AS place
        FROM oauth_artifact WHERE model = $1 AND party IS NOT NULL) AS ranked
      ORDER BY place DESC, created_at
      LIMIT greatest(0, (SELECT count(*) FROM oauth_artifact WHERE model = $1 AND party IS NOT NULL) - $2)))`,
    values: [model, inAll],
  });
}
