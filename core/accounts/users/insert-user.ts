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
  /** Confirmed by its owner or vouched for by the operator: no user has an address that is neither. */
  email: EmailAddress;
  /** Null for who signs in elsewhere. */
  passwordHash: string | null;
  isOperator?: boolean;
};

/**
 * Writes a user, whose values are checked already. The ways to become one (sign-up, the operator's command, the setup link) all
 * end here.
 * @param createdBy the user who did it, for the audit log; undefined when it was the person; null for the operator's command
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
