import type { Person } from "../../access/actor.ts";
import { roleInOrganization } from "../../access/standing-in-organization.ts";
import { db } from "../../db.ts";
import { isServiceError } from "../../errors.ts";
import { readEmailAddress } from "../email-address.ts";
import { parseHandle } from "../handles/parse-handle.ts";
import { findOneTimeToken } from "../one-time-tokens/find-one-time-token.ts";
import type { ProviderKind } from "./provider-kinds.ts";

/** An identity that is linked to no user yet, and what can be done about it. */
export type PendingIdentity = {
  provider: { slug: string; name: string; kind: ProviderKind; orgId: string | null };
  displayName: string;
  next: string;
} & (
  | { choice: "link" }
  /** An account has the same address. If it is theirs, they can sign in to it; it is never linked because of the address alone. */
  | { choice: "sign-in-first"; hasAccount: boolean; email: string | null }
  | { choice: "sign-up"; email: string; username: string; fullName: string }
);

/** What the page for a pending identity shows; undefined if it was used, has expired or its provider is gone. */
export async function findPendingIdentity(token: string, actor: Person | undefined): Promise<PendingIdentity | undefined> {
  const pending = await findOneTimeToken(token, "pending-identity");
  if (!pending) return undefined;
  const { providerId, displayName, username, fullName, next } = pending.data;
  const provider = await db().identityProvider.findUnique({ where: { id: providerId, disabledAt: null } });
  if (!provider) return undefined;
  const { slug, name, orgId } = provider;
  const shown = { provider: { slug, name, kind: provider.kind as ProviderKind, orgId }, displayName, next };
  if (actor) {
    const isEntitled = orgId === null || (await roleInOrganization(actor.userId, orgId)) !== undefined;
    return isEntitled ? { ...shown, choice: "link" } : undefined;
  }
  const email = readEmailAddress(pending.data.email ?? "");
  const account = email && (await db().user.findUnique({ where: { emailCanonical: email.canonical }, select: { id: true } }));
  if (account || !email || !provider.isSignUpAllowed) {
    return { ...shown, choice: "sign-in-first", hasAccount: Boolean(account), email: email?.address ?? null };
  }
  return { ...shown, choice: "sign-up", email: email.address, username: suggestedUsername(username), fullName: fullName ?? "" };
}

/** Their name there, if it is a valid name here; they learn whether it is free when they take it. */
function suggestedUsername(username: string | null): string {
  try {
    return parseHandle((username ?? "").replaceAll(/[^A-Za-z0-9._-]/g, ""), "username").spelled;
  } catch (error) {
    if (isServiceError(error)) return "";
    throw error;
  }
}
