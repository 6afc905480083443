import { type Actor, actorId, clientIdOf } from "../access/actor.ts";
import { describeDelegations, type MadeWith, recordDelegation } from "../access/delegation.ts";
import { requirePermission } from "../access/may.ts";
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { RequestOrigin } from "../audit/request-origin.ts";
import { seal } from "../crypto/seal.ts";
import { hashToken, newToken } from "../crypto/token.ts";
import { type Db, inTransaction, pool } from "../db.ts";
import { conflict, invalidRequest, notFound, ServiceError } from "../errors.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { newId } from "../ids.ts";
import { abandonRequests } from "./inbox/answer-request.ts";
import {
  isLimitedToOwn,
  isRelayOf,
  LISTENER_MARK,
  RELAY_CHANNEL,
  RELAY_HOURS,
  RELAYS_MAX_PER_PERSON,
  type Relay,
  type RelayRow,
  relayColumns,
  relayUrl,
  TOKEN_PURPOSE,
  tokenOf,
  toRelay,
} from "./relay.ts";

type OpenedRelay = {
  relay: Relay;
  /** Null if the URL stays, or if there was none. Requests to the previous URL are lost. */
  previousUrl: string | null;
};

/** A URL that has ended is never used again. */
export async function openRelay(actor: Actor, userId: string, name: string, from: RequestOrigin): Promise<OpenedRelay> {
  parseRelayName(name);
  const previousUrl = await inTransaction(async (tx) => {
    await requirePermission(actor, "relay.manage", { userId }, { what: "Relay", tx });
    await lockRelaysOf(tx, userId);
    const before = await tx.relay.findUnique({ where: { userId_name: { userId, name } } });
    const [madeWith = null] = (await describeDelegations([before?.delegationId ?? null], tx)).values();
    if (before && !before.closedAt) requireUsable(actor, madeWith);
    const delegationId = await recordDelegation(tx, actor);
    const expiresAt = new Date(Date.now() + RELAY_HOURS * 3_600_000);
    const token = before && tokenOf(before.token);
    // Anybody with the app's URL could reach the user's program, so the user gets a new URL.
    const isTakenOver = madeWith !== null && !madeWith.isOwnProgram && !isLimitedToOwn(actor);
    if (before && token && !before.closedAt && before.expiresAt > new Date() && !isTakenOver) {
      // The relay stays bound to the token that opened it, unless that token has ended.
      await tx.relay.update({ where: { id: before.id }, data: { expiresAt, ...(madeWith?.isEnded && { delegationId }) } });
      return null;
    }
    if ((await tx.relay.count({ where: { userId, closedAt: null, NOT: { name } } })) >= RELAYS_MAX_PER_PERSON) {
      throw conflict(`You already have ${RELAYS_MAX_PER_PERSON} relays. Close one first.`);
    }
    const fresh = newToken();
    const columns = { token: seal(TOKEN_PURPOSE, fresh), tokenHash: hashToken(fresh), expiresAt, closedAt: null, delegationId };
    const noListener = { listenerId: null, connectionId: null, listeningUntil: null };
    // Requests that were sent to the app's URL must not reach the user's program either.
    if (before && isTakenOver) await abandonRequests(tx, before.id, "the relay was taken over before its listener responded");
    if (before) await tx.relay.update({ where: { id: before.id }, data: { ...columns, ...noListener, createdAt: new Date() } });
    else await tx.relay.create({ data: { id: newId(), userId, name, ...columns } });
    const by = { actorId: actorId(actor), clientId: clientIdOf(actor), subjectId: userId };
    if (before) await tx.$executeRaw`SELECT pg_notify(${RELAY_CHANNEL}, ${before.id + LISTENER_MARK})`;
    await recordAuditEvent(tx, { type: "relay.open", ...by, data: { name }, from });
    return before && token && !before.closedAt ? relayUrl(token) : null;
  });
  return { relay: await findRelay(actor, userId, name), previousUrl };
}

/** Old requests may be left in an expired relay, so the rule applies to expired relays too. */
function requireUsable(actor: Actor, madeWith: MadeWith | null): void {
  if (!isLimitedToOwn(actor) || (madeWith !== null && madeWith.clientId === actor.clientId)) return;
  throw new ServiceError("forbidden", "The relay with this name was opened with another app or token. Choose another name.");
}

/** The lock makes openings of relays wait for each other, so that each is counted. */
async function lockRelaysOf(tx: Db, userId: string): Promise<void> {
  const live = await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${userId} AND disabled_at IS NULL FOR KEY SHARE`;
  if (live.length === 0) throw notFound("Account");
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`relays ${userId}`}, 0))`;
}

/** The list includes expired relays. An app sees only the relays that it opened. */
export async function listRelays(actor: Actor, userId: string): Promise<Relay[]> {
  await requirePermission(actor, "relay.read", { userId }, { what: "Account" });
  return (await readRelays(Prisma.sql`r.user_id = ${userId} AND ${isRelayOf(actor)}`)).map(toRelay);
}

export async function findRelay(actor: Actor, userId: string, name: string): Promise<Relay> {
  await requirePermission(actor, "relay.read", { userId }, { what: "Relay" });
  const [row] = await readRelays(
    Prisma.sql`r.user_id = ${userId} AND r.name = ${name.replaceAll("\0", "")} AND ${isRelayOf(actor)}`,
  );
  if (!row) throw notFound("Relay");
  return toRelay(row);
}

async function readRelays(where: Prisma.Sql): Promise<RelayRow[]> {
  const { text, values } = Prisma.sql`
    SELECT ${Prisma.raw(relayColumns)} FROM relay r WHERE r.closed_at IS NULL AND ${where} ORDER BY r.name`;
  return (await pool().query<RelayRow>(text, values as unknown[])).rows;
}

function parseRelayName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(name)) return name;
  const sentence = "Use at most 64 lower-case letters, digits, dots, dashes and underscores, and begin with a letter or a digit.";
  throw invalidRequest(sentence, "name");
}
