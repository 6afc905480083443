import type { Scope } from "@keyhook/sdk";

/** Who asks. Doors build it from what they have authenticated; core trusts it. */
export type Actor = Person | TokenHolder | OperatorCommand;

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

/** The user behind an actor, for `actorId` of the audit log; null for the operator's command. */
export function actorId(actor: Actor): string | null {
  return actor.kind === "command" ? null : actor.userId;
}
