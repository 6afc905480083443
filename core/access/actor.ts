import type { Scope } from "@keyhook/sdk";
import type { Standing } from "./standing-in-organization.ts";

/** The subject of a decision. Doors build it after authentication; core trusts it. */
export type Actor = Anonymous | Person | TokenHolder | Publisher | OperatorCommand;

/** An anonymous caller, who sees only public resources. */
export type Anonymous = { kind: "anonymous" };

export const anonymous: Anonymous = { kind: "anonymous" };

/** A user signed in to our own pages. */
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
 * Set when a stored resource acts, such as a webhook or a schedule: the organization that owns the resource. The organization's
 * sign-in requirements (a second step, its own identity provider) are not checked for the absent creator, but the creator's role
 * is. Otherwise an organization's webhooks and schedules would stop a week after its administrator last signed in (decision 071).
 */
type ActsForOrgId = string;

/** A program with a token. It may do only what its user, its scopes and its organizations all allow. */
export type TokenHolder = {
  kind: "token";
  userId: string;
  /** The ID of the personal access token, or of the Grant under which an OAuth token was issued. */
  tokenId: string;
  scopes: readonly Scope[];
  orgIds: readonly string[] | "all";
  /** The OAuth client that got the token; null for a personal access token. */
  clientId: string | null;
  /** The only organization in which an exchanged token may do more than read (docs/specification/organizations-and-tokens.md). */
  boundOrgId?: string;
  /** A CI job that can only read the gated repositories to which its user has access (docs/specification/organizations-and-tokens.md). */
  isReadOnly?: true;
  /** Issued to the service's own command line, and so treated like a personal access token. */
  isFirstParty?: true;
  /** When the user last authenticated before they allowed the token (S113); absent if unknown. */
  authenticatedAt?: Date;
  /** The user's standing in each organization when the token was looked up. It saves a second query. */
  standings?: ReadonlyMap<string, Standing>;
  actsForOrgId?: ActsForOrgId;
};

/**
 * A CI job with a token for one repository; it acts for no user
 * (docs/specification/organizations-and-tokens.md#trusted-publishers).
 */
export type Publisher = {
  kind: "publisher";
  publisherId: string;
  /** The user responsible for it: the one who trusted the publisher. The job gets none of their rights. */
  trustedById: string;
  repoId: string;
  /** Identifies the run, for logs and for the author of its commits. */
  description: string;
};

/** The operator in the machine's own shell (`npm run admin`), who can read the database anyway. */
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
 * Resolves the actor anew at each call, because a request may outlive its token or session. Code that handles such a request calls it when
 * it makes the change.
 * @throws ServiceError `unauthorized` when the token or the session has ended
 */
export type ActorNow = () => Promise<Actor>;

/** The user behind an actor, for `actorId` of logs and events; null for anonymous callers, publishers and the operator's command. */
export function actorId(actor: Actor): string | null {
  return actor.kind === "person" || actor.kind === "token" ? actor.userId : null;
}

/** The OAuth client through which an actor acts; null if there is none. */
export function clientIdOf(actor: Actor): string | null {
  return actor.kind === "token" ? actor.clientId : null;
}
