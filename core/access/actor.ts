import type { Scope } from "@keyhook/sdk";
import type { Standing } from "./standing-in-organization.ts";

export type Actor = Anonymous | Person | TokenHolder | Publisher | OperatorCommand;

export type Anonymous = { kind: "anonymous" };

export const anonymous: Anonymous = { kind: "anonymous" };

export type Person = {
  kind: "person";
  userId: string;
  isOperator: boolean;
  sessionId: string;
  /** The time of the last authentication (S113). */
  authenticatedAt: Date;
  actsForOrgId?: ActsForOrgId;
};

/** The organization that owns the stored resource. Its sign-in requirements do not apply to the absent creator (decision 071). */
type ActsForOrgId = string;

export type TokenHolder = {
  kind: "token";
  userId: string;
  tokenId: string;
  scopes: readonly Scope[];
  orgIds: readonly string[] | "all";
  clientId: string | null;
  /** The only organization in which an exchanged token may do more than read (docs/specification/organizations-and-tokens.md). */
  boundOrgId?: string;
  /** A CI job's token, for reading the gated repositories to which its user has access. */
  isReadOnly?: true;
  isFirstParty?: true;
  /** The last authentication before the user allowed the token (S113). Absent if unknown. */
  authenticatedAt?: Date;
  /** The standings that were read with the token. Decisions in a transaction read them again. */
  standings?: ReadonlyMap<string, Standing>;
  actsForOrgId?: ActsForOrgId;
};

/** A CI job that acts for no user (docs/specification/organizations-and-tokens.md#trusted-publishers). */
export type Publisher = {
  kind: "publisher";
  publisherId: string;
  /** The user who trusted the publisher. The job gets none of this user's rights. */
  trustedById: string;
  repoId: string;
  description: string;
};

export type OperatorCommand = { kind: "command" };

export const operatorCommand: OperatorCommand = { kind: "command" };

export function personActor(session: {
  id: string;
  userId: string;
  authenticatedAt: Date;
  user: { isOperator: boolean };
}): Person {
  return {
    kind: "person",
    userId: session.userId,
    isOperator: session.user.isOperator,
    sessionId: session.id,
    authenticatedAt: session.authenticatedAt,
  };
}

/** A request may outlive its token or session, so a long request calls this before each change. */
export type ActorNow = () => Promise<Actor>;

export function actorId(actor: Actor): string | null {
  return actor.kind === "person" || actor.kind === "token" ? actor.userId : null;
}

export function clientIdOf(actor: Actor): string | null {
  return actor.kind === "token" ? actor.clientId : null;
}
