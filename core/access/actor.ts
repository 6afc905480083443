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
  /** When they last authenticated (S113). */
  authenticatedAt: Date;
  actsForOrgId?: ActsForOrgId;
};

/**
 * The organization that owns the resource, if a stored resource acts: sign-in requirements do not apply to an absent creator
 * (decision 071).
 */
type ActsForOrgId = string;

export type TokenHolder = {
  kind: "token";
  userId: string;
  /** The ID of the personal access token or of the OAuth token's Grant. */
  tokenId: string;
  scopes: readonly Scope[];
  orgIds: readonly string[] | "all";
  /** Null for a personal access token. */
  clientId: string | null;
  /** Only in this organization may an exchanged token do more than read (docs/specification/organizations-and-tokens.md). */
  boundOrgId?: string;
  /** A CI job that can read only gated repositories to which its user has access. */
  isReadOnly?: true;
  isFirstParty?: true;
  /** When the user last authenticated before they allowed the token (S113); absent if unknown. */
  authenticatedAt?: Date;
  /** As read with the token; changes read them again. */
  standings?: ReadonlyMap<string, Standing>;
  actsForOrgId?: ActsForOrgId;
};

/** A CI job that acts for no user (docs/specification/organizations-and-tokens.md#trusted-publishers). */
export type Publisher = {
  kind: "publisher";
  publisherId: string;
  /** The user who trusted the publisher; the job gets none of their rights. */
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

/**
 * A request may outlive its token or session, so call this again for each change. @throws ServiceError `unauthorized` when the
 * token or the session has ended
 */
export type ActorNow = () => Promise<Actor>;

export function actorId(actor: Actor): string | null {
  return actor.kind === "person" || actor.kind === "token" ? actor.userId : null;
}

export function clientIdOf(actor: Actor): string | null {
  return actor.kind === "token" ? actor.clientId : null;
}
