import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { parseEmailAddress } from "../email-address.ts";
import { findInvitation } from "../organizations/invitations.ts";

/** While sign-up is closed, only people with an open invitation may sign up. Identity providers have their own setting. */
type SignUpPolicy = {
  isOpen: boolean;
  changedAt: Date | null;
};

const KEY = "sign_up";

export async function readSignUpPolicy(tx: Db = db()): Promise<SignUpPolicy> {
  const row = await tx.setting.findUnique({ where: { key: KEY } });
  return { isOpen: (row?.value as { isOpen?: unknown } | undefined)?.isOpen !== false, changedAt: row?.updatedAt ?? null };
}

export async function setSignUpPolicy(
  actor: Actor,
  { isOpen }: Pick<SignUpPolicy, "isOpen">,
  from: RequestOrigin,
): Promise<SignUpPolicy> {
  return db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const before = await readSignUpPolicy(tx);
    const change = { value: { isOpen }, updatedAt: new Date() };
    await tx.setting.upsert({ where: { key: KEY }, create: { key: KEY, ...change }, update: change });
    const data = { isOpen, before: before.isOpen };
    await recordAuditEvent(tx, { type: "installation.sign_up_policy", actor, data, from });
    return { isOpen, changedAt: change.updatedAt };
  });
}

/** Finds the open invitation to whose page the user returns after signing up. */
export async function invitationAt(returnTo: string | null | undefined): Promise<{ email: string } | undefined> {
  const token = /^\/invitations\/([\w-]+)$/.exec(returnTo ?? "")?.[1];
  const invitation = token ? await findInvitation(token) : undefined;
  return invitation?.state === "open" ? invitation : undefined;
}

/** Call this at sign-up, and again when the account is created (S113). */
export async function requireSignUp(email: { canonical: string }, returnTo: string | null | undefined): Promise<void> {
  if ((await readSignUpPolicy()).isOpen) return;
  const invitation = await invitationAt(returnTo);
  if (invitation && parseEmailAddress(invitation.email).canonical === email.canonical) return;
  throw new ServiceError(
    "forbidden",
    invitation
      ? "The invitation is for another e-mail address. Create the account with that address."
      : "Only invited people can create an account with a password here. Ask an organization to invite you.",
    invitation && { field: "email" },
  );
}
