import type { Scope } from "@keyhook/sdk";
import type { Standing } from "./standing-in-organization.ts";

/** Who asks. Doors build it from what they have authenticated; core trusts it. */
export type Actor = Anonymous | Person | TokenHolder | Publisher | OperatorCommand;

/** Anybody, who sees what is public. */
export type Anonymous = { kind: "anonymous" };

export const anonymous: Anonymous = { kind: "anonymous" };

/** Somebody signed in to our own pages. */
export type Person = {
  kind: "person";
  userId: string;
  isOperator: boolean;
  sessionId: string;
  /** When they last proved who they are (S113). */
  authenticatedAt: Date;
  actsForOrgId?: ActsForOrgId;
};

/**
 * The organization that owns what acts now and was made earlier. What it asks of members who come to it (a second step, a sign-in by its
 * own provider) is not asked of whoever made it, who is not there: their role is. Otherwise an organization's webhooks and schedules
 * would stop a week after its administrator was last here (decision 071).
 */
type ActsForOrgId = string;

/** A program with a token: no more than its person, its scopes and its organizations together allow. */
export type TokenHolder = {
  kind: "token";
  userId: string;
  /** The personal access token's id, or that of the Grant that an OAuth token was issued under. */
  tokenId: string;
  scopes: readonly Scope[];
  orgIds: readonly string[] | "all";
  /** The OAuth client that it was issued to; null for a token that a person made for themselves. */
  clientId: string | null;
  /**
   * The one organization that an exchanged token acts in (docs/specification/organizations-and-tokens.md#token-exchange): outside it
   * reads what it may, and nothing else.
   */
  boundOrgId?: string;
  /**
   * Of a CI job that reads as its person: it reads what they were let into, and changes nothing
   * (docs/specification/organizations-and-tokens.md#trusted-publishers).
   */
  isReadOnly?: true;
  /** Issued to the command line that comes with the service: as good as a token that the person made for themselves. */
  isFirstParty?: true;
  /** When its person last proved who they are before they let it in (S113); absent where that is not on record. */
  authenticatedAt?: Date;
  /** Where its person stood in their organizations when the token was looked up, by organization: no second question is needed. */
  standings?: ReadonlyMap<string, Standing>;
  actsForOrgId?: ActsForOrgId;
};

/**
 * A job of continuous integration with a token for one repository: no person stands behind it
 * (docs/specification/organizations-and-tokens.md#trusted-publishers).
 */
export type Publisher = {
  kind: "publisher";
  publisherId: string;
  /** Who answers for it: the account that trusted the publisher. It lends the job none of its rights. */
  trustedById: string;
  repoId: string;
  /** Which run it was, for logs and for the author of its commits. */
  description: string;
};

/** The operator at the machine's own shell (`npm run admin`), who may read the database anyway. */
export type OperatorCommand = { kind: "command" };

export const operatorCommand: OperatorCommand = { kind: "command" };

/** The actor of a site session (core/accounts/sessions/find-site-session.ts). */
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
 * Who asks, as they are each time it is called: a request may take longer than its token or session lives. What takes such a request asks it
 * at the moment of the change.
 * @throws ServiceError `unauthorized` when the token or the session has ended
 */
export type ActorNow = () => Promise<Actor>;

/** The user behind an actor, for `actorId` of logs and events; null for the operator's command, for a job and for nobody. */
export function actorId(actor: Actor): string | null {
  return actor.kind === "person" || actor.kind === "token" ? actor.userId : null;
}

/** The OAuth client through which an actor acts; null for everybody else. */
export function clientIdOf(actor: Actor): string | null {
  return actor.kind === "token" ? actor.clientId : null;
}
