import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db } from "#core/db.ts";
import { checkAll, conflict } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { type EmailAddress, parseEmailAddress } from "../email-address.ts";
import { claimHandle, type HandleName, parseHandle } from "../handles/parse-handle.ts";
import { checkPassword } from "../passwords/check-password.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { displayText } from "../plain-text.ts";

export async function createUser(
  actor: Actor,
  input: NewUserInput & { isOperator?: boolean },
  from: RequestOrigin,
): Promise<{ id: string; username: string }> {
  await requirePermission(actor, "user.create", null, { what: "Service" });
  const { handle, email, fullName, password } = await parseNewUser(input);
  const passwordHash = await hashPassword(password);
  const id = await db().$transaction((tx) =>
    insertUser(tx, { handle, email, fullName, passwordHash, isOperator: input.isOperator }, actorId(actor), from),
  );
  return { id, username: handle.spelled };
}

type NewUser = {
  handle: HandleName;
  fullName: string;
  email: EmailAddress;
  passwordHash: string | null;
  isOperator?: boolean;
};

/** @param createdBy undefined if the user creates the account, null for the operator's command */
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
  if (count === 0) throw conflict("This e-mail address already has an account.", "email");
  await recordAuditEvent(tx, {
    type: "user.create",
    actorId: createdBy === undefined ? id : createdBy,
    subjectId: id,
    data: { username: user.handle.spelled, isOperator: user.isOperator ?? false },
    from,
  });
  return id;
}

const FULL_NAME_MAX_CHARACTERS = 100;

export type NewUserInput = {
  username: string;
  email: string;
  password: string;
  fullName?: string;
};

type NewUserFields = { handle: HandleName; email: EmailAddress; password: string; fullName: string };

export async function parseNewUser(input: NewUserInput): Promise<NewUserFields> {
  const { username, email, fullName = "", password } = input;
  const checked = await checkAll({
    handle: () => parseHandle(username, "username"),
    email: () => parseEmailAddress(email),
    fullName: () => parseFullName(fullName),
    password: () => checkPassword(password, [username, fullName, email].map(String)),
  });
  return { ...checked, fullName: checked.fullName || checked.handle.spelled };
}

export function parseFullName(value: unknown): string {
  return displayText("fullName", value, { maxCharacters: FULL_NAME_MAX_CHARACTERS, isRequired: false });
}
