import type { Actor } from "../access/actor.ts";
import { isOwnProgram } from "../access/may.ts";
import { Prisma } from "../generated/prisma/client.ts";

/**
 * Whether an actor may use only the relays that it opened itself, as apps do: webhooks' secrets arrive in plain text at the
 * others, and an app may not read those (decision 077). A user can use all of theirs, on the pages and with their own programs.
 */
export const isLimitedToOwn = (actor: Actor): actor is Actor & { kind: "token" } =>
  actor.kind === "token" && !isOwnProgram(actor);

/**
 * SQL condition: whether an actor may use the relay `r`. It must be part of the statement that uses the relay, because the user
 * may take the relay over between two statements.
 */
export const isRelayOf = (actor: Actor): Prisma.Sql =>
  isLimitedToOwn(actor)
    ? Prisma.sql`EXISTS (SELECT FROM delegation d WHERE d.id = r.delegation_id AND d.client_id = ${actor.clientId})`
    : Prisma.sql`TRUE`;
