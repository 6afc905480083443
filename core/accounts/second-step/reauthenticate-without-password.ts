import type { Person } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import type { SignInOutcome } from "../sessions/complete-sign-in.ts";
import { completeReauthentication } from "./complete-reauthentication.ts";
import { hasSecondStep } from "./has-second-step.ts";

/**
 * Reauthenticates a user without a password, who signs in with a provider, by asking for the second step directly. A stolen
 * session does not include it (docs/decisions/041).
 * @throws ServiceError `conflict` if the user has a password, or no second step
 */
export async function reauthenticateWithoutPassword(actor: Person, from: RequestOrigin): Promise<SignInOutcome> {
  return db().$transaction(async (tx) => {
    const { passwordHash } = await tx.user.findUniqueOrThrow({ where: { id: actor.userId }, select: { passwordHash: true } });
    if (passwordHash !== null || !(await hasSecondStep(actor.userId, tx))) {
      throw new ServiceError("conflict", "Confirm it with your password, or at the provider that you sign in with.");
    }
    return completeReauthentication(tx, actor, { methods: [] }, from);
  });
}
