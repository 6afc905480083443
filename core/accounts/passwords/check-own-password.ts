import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { countPasswordAttempt } from "../count-password-attempt.ts";
import { presentedPassword } from "./check-password.ts";
import { verifyPassword } from "./password-hash.ts";

/** A stolen session must not allow guessing, so attempts are counted as at sign-in (S115). */
export async function checkOwnPassword(userId: string, value: unknown, from: RequestOrigin, field = "password"): Promise<void> {
  const password = presentedPassword(value, field);
  const attempt = await countPasswordAttempt({ signedInUserId: userId }, from);
  const user = await db().user.findUnique({ where: { id: userId }, select: { passwordHash: true } });
  if (!(await attempt.verify(() => verifyPassword(user?.passwordHash, password, userId)))) {
    throw wrongPassword(field);
  }
  await attempt.succeeded();
}

export const wrongPassword = (field: string): ServiceError =>
  new ServiceError("unauthorized", "This is not your password.", { field });
