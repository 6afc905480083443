import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { insertUser } from "./insert-user.ts";
import { type NewUserInput, parseNewUser } from "./new-user-fields.ts";

/**
 * Creates a user as the operator: the e-mail address counts as verified.
 * @returns the user's id
 * @throws ServiceError `invalid_request`, `conflict` (each with its field), `forbidden`
 */
export async function createUser(
  actor: Actor,
  input: NewUserInput & { isOperator?: boolean },
  from: RequestOrigin,
): Promise<{ id: string; username: string }> {
  await requirePermission(actor, "user.create", null, { what: "Service" });
  const { handle, email, fullName, password } = parseNewUser(input);
  const passwordHash = await hashPassword(password);
  const id = await db().$transaction((tx) =>
    insertUser(tx, { handle, email, fullName, passwordHash, isOperator: input.isOperator }, actorId(actor), from),
  );
  return { id, username: handle.spelled };
}
