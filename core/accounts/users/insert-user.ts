import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import type { EmailAddress } from "../email-address.ts";
import { claimHandle } from "../handles/claim-handle.ts";
import type { HandleName } from "../handles/parse-handle.ts";

export type NewUser = {
  handle: HandleName;
  fullName: string;
  /** Confirmed by its owner or vouched for by the operator: every user's address is one or the other. */
  email: EmailAddress;
  /** Null for users who sign in with a provider. */
  passwordHash: string | null;
  isOperator?: boolean;
};

/**
 * Inserts a user with validated values. All ways to create one (sign-up, the operator's command, the setup link) end here.
 * @param createdBy the user who did it, for the audit log; undefined if it was the new user; null for the operator's command
 * @throws ServiceError `conflict` on `username` or `email`
 */
export async function insertUser(
  tx: Db,
  user: NewUser,
  createdBy: string | null | undefined,
  from: RequestOrigin,
): Promise<string> {
  const id = newId();
  await claimHandle(tx, user.handle, { userId: id }, "username");
  const { count } = await tx.user.createMany({
    data: [
      {
        id,
        username: user.handle.spelled,
        fullName: user.fullName,
        email: user.email.address,
        emailCanonical: user.email.canonical,
        emailVerifiedAt: new Date(),
        passwordHash: user.passwordHash,
        isOperator: user.isOperator ?? false,
      },
    ],
    skipDuplicates: true,
  });
  if (count === 0) throw new ServiceError("conflict", "This e-mail address already has an account.", { field: "email" });
  await recordAuditEvent(tx, {
    type: "user.create",
    actorId: createdBy === undefined ? id : createdBy,
    subjectId: id,
    data: { username: user.handle.spelled, isOperator: user.isOperator ?? false },
    from,
  });
  return id;
}
