import type { Scope } from "@keyhook/sdk";

/** Who asks. Doors build it from what they have authenticated; core trusts it. */
export type Actor = Anonymous | Person | TokenHolder | OperatorCommand;

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
};

/** A program with a token: no more than its person, its scopes and its organizations together allow. */
export type TokenHolder = {
  kind: "token";
  userId: string;
  scopes: readonly Scope[];
  orgIds: readonly string[] | "all";
  /** The OAuth client that it was issued to; null for a token that a person made for themselves. */
  clientId: string | null;
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

/** The user behind an actor, for `actorId` of logs and events; null for the operator's command and for nobody. */
export function actorId(actor: Actor): string | null {
  return actor.kind === "command" || actor.kind === "anonymous" ? null : actor.userId;
}

/** The OAuth client through which an actor acts; null for everybody else. */
export function clientIdOf(actor: Actor): string | null {
  return actor.kind === "token" ? actor.clientId : null;
}
