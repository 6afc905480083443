import type { Person } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { checkOwnPassword } from "../passwords/check-own-password.ts";
import { completeReauthentication } from "../second-step/complete-reauthentication.ts";
import type { SignInOutcome } from "./complete-sign-in.ts";

/**
 * Asks for the password again before a sensitive change (S113), and then for the second step if there is one.
 * @throws ServiceError `unauthorized` (wrong password, field `password`), `rate_limited`
 */
export async function reauthenticate(actor: Person, password: unknown, from: RequestOrigin): Promise<SignInOutcome> {
  await checkOwnPassword(actor.userId, password, from);
  return db().$transaction((tx) => completeReauthentication(tx, actor, { methods: ["pwd"] }, from));
}
