import { type Actor, actorId } from "#core/access/actor.ts";
import { endDelegationsOf } from "#core/access/delegation.ts";
import { requirePermission } from "#core/access/may.ts";
import { composeEmail } from "#core/accounts/emails/compose-email.ts";
import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken } from "#core/crypto/token.ts";
import { type Db, inTransaction } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { readRefreshTokenId } from "../artifacts/refresh-token-id.ts";

type TokenReference = { token: string } | { tokenId: string };

type Found = {
  kind: "personal" | "oauth" | "exchanged" | "ci";
  id: string;
  userId: string | null;
  name: string | null;
};

/**
 * See docs/specification/organizations-and-tokens.md#leaked-tokens.
 * @throws ServiceError `not_found` even for a token that belongs to no member
 */
export async function revokeTokenAtOrganization(
  actor: Actor,
  orgId: string,
  reference: TokenReference,
  from: RequestOrigin,
): Promise<void> {
  await inTransaction(async (tx) => {
    await requirePermission(actor, "organization.revoke_token", { orgId }, { what: "Organization", tx });
    const found = "tokenId" in reference && reference.tokenId.includes("\0") ? undefined : await findToken(tx, orgId, reference);
    if (!found) throw notFound("Token");
    const { kind, id, userId, name } = found;
    if (kind === "exchanged") {
      await tx.oAuthGrant.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
      await endDelegationsOf(tx, [id]);
    } else if (kind === "ci") await tx.ciToken.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
    else if (userId) {
      const { count } = await blockToken(tx, { orgId, tokenId: id, userId, revokedById: actorId(actor) });
      if (count === 0) return;
    }
    const data = { kind, tokenId: id, ...(name !== null && { name }) };
    const by = { actorId: actorId(actor), orgId, subjectId: userId, clientId: null };
    // Limited (S144), because tokens can be created and revoked endlessly.
    const isRecorded = await recordAboutSomebody(tx, { type: "organization.revoke_token", ...by, data, from });
    if (userId && isRecorded) await notifyOwner(tx, userId, orgId, found);
  });
}

async function blockToken(
  tx: Db,
  row: { orgId: string; tokenId: string; userId: string; revokedById: string | null },
): Promise<{ count: number }> {
  return tx.organizationRevokedToken.createMany({ data: [row], skipDuplicates: true });
}

async function findToken(tx: Db, orgId: string, reference: TokenReference): Promise<Found | undefined> {
  const [hash, id] = "token" in reference ? [hashToken(reference.token), null] : [null, reference.tokenId];
  // The row of a used refresh token may have been deleted.
  const namedId = "token" in reference ? (readRefreshTokenId(reference.token)?.grantId ?? null) : null;
  const [found] = await tx.$queryRaw<Found[]>`
    SELECT 'personal' AS kind, t.id, t.user_id AS "userId", t.name FROM personal_access_token t
      JOIN membership m ON m.user_id = t.user_id AND m.org_id = ${orgId}
     WHERE (t.token_hash = ${hash} OR t.id = ${id}) AND t.revoked_at IS NULL
    UNION ALL
    SELECT CASE WHEN g.bound_org_id IS NULL THEN 'oauth' ELSE 'exchanged' END, g.id, g.user_id, g.client_id FROM oauth_grant g
      JOIN membership m ON m.user_id = g.user_id AND m.org_id = ${orgId}
     WHERE (g.id IN (${id}, ${namedId}) OR g.id = (SELECT a.grant_id FROM oauth_artifact a
              WHERE a.model IN ('AccessToken', 'RefreshToken') AND a.id_hash = ${hash} LIMIT 1))
       AND g.revoked_at IS NULL AND (g.bound_org_id = ${orgId} OR (g.bound_org_id IS NULL AND (g.is_all_orgs OR ${orgId} = ANY (g.org_ids))))
    UNION ALL
    -- A token that has expired, or whose sign-in has ended: webhooks and schedules that were created with it may still act.
    SELECT CASE n.kind WHEN 'exchanged' THEN 'exchanged' ELSE 'oauth' END, n.token_id, n.user_id, n.client_id FROM live_delegation n
      JOIN membership m ON m.user_id = n.user_id AND m.org_id = ${orgId}
     WHERE n.client_id IS NOT NULL AND (n.bound_org_id = ${orgId} OR (n.bound_org_id IS NULL AND (n.is_all_orgs OR ${orgId} = ANY (n.org_ids))))
       AND (n.token_id IN (${id}, ${namedId}) OR n.token_id = (SELECT a.grant_id FROM oauth_artifact a
              WHERE a.model IN ('AccessToken', 'RefreshToken') AND a.id_hash = ${hash} LIMIT 1))
    UNION ALL
    SELECT 'ci', t.id, NULL, t.description FROM ci_token t JOIN repo r ON r.id = t.repo_id
     WHERE (t.token_hash = ${hash} OR t.id = ${id}) AND r.owner_id = ${orgId} AND r.owner_kind = 'organization' AND t.revoked_at IS NULL
    LIMIT 1`;
  return found;
}

async function notifyOwner(tx: Db, userId: string, orgId: string, { kind, name }: Found): Promise<void> {
  const person = await tx.user.findUnique({ where: { id: userId }, select: { email: true, username: true } });
  const organization = await tx.organization.findUnique({ where: { id: orgId }, select: { fullName: true } });
  if (!person || !organization) return;
  const admin = `An administrator of ${organization.fullName}`;
  // The user may never have signed in to this app, because the organization got the token.
  if (kind === "exchanged") {
    const text = `${admin} has revoked a token that an app of the organization got for your account. The token no longer works.`;
    const advice = "You need not do anything. If you want to know why, ask an administrator: the token may have leaked.";
    const subject = `A token of ${organization.fullName} was revoked`;
    await queueMail(tx, { to: person.email, ...composeEmail(subject, person.username, [text, advice]) });
    return;
  }
  const token = kind === "personal" ? `your access token "${name}"` : "an app's token for your account";
  const text = `${admin} has blocked ${token}. The token can no longer access the organization.`;
  const again = kind === "personal" ? "create another one" : "sign in to the app again";
  const advice = `Ask why before you ${again}: the token may have leaked.`;
  await queueMail(tx, {
    to: person.email,
    ...composeEmail(`A token was blocked from ${organization.fullName}`, person.username, [text, advice]),
  });
}
