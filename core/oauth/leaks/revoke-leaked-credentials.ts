import { endDelegationsOf } from "#core/access/delegation.ts";
import { composeEmail, type EmailContent, link } from "#core/accounts/emails/compose-email.ts";
import { takeAtLeast } from "#core/accounts/take-at-least.ts";
import { consumeAddressThrottle } from "#core/accounts/throttle.ts";
import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken } from "#core/crypto/token.ts";
import { type Db, inTransaction } from "#core/db.ts";
import { env } from "#core/env.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { readRefreshTokenId } from "../artifacts/refresh-token-id.ts";

/** See docs/specification/organizations-and-tokens.md#leaked-tokens. */
export const LEAKED_MAX_CREDENTIALS = 1_000;
export const LEAKED_MAX_CHARACTERS = 200;

const LIMIT = { limit: 60, windowSeconds: 10 * 60 };
/** Longer than the lookup takes, so that the time does not reveal whether a token was found. */
const ANSWER_MS = 400;

/** Needs no permission: anybody who has a token could do worse with it. Response and time must not help to test tokens. */
export async function revokeLeakedCredentials(credentials: readonly string[], from: RequestOrigin): Promise<void> {
  await consumeAddressThrottle("leaked-credentials", from.ip ?? "unknown", LIMIT);
  const byHash = new Map(credentials.map((credential) => [hashToken(credential), credential.slice(-4)]));
  await takeAtLeast(ANSWER_MS, () =>
    inTransaction(async (tx) => {
      const named = credentials.flatMap((credential) => {
        const grant = readRefreshTokenId(credential);
        return grant ? [{ ...grant, hash: hashToken(credential) }] : [];
      });
      const ended = await endByHash(tx, [...byHash.keys()], named);
      const recorded: LeakedCredential[] = [];
      for (const one of ended) if (await recordLeak(tx, one, byHash.get(one.hash) ?? "", from)) recorded.push(one);
      // Delegations of an expired token end too: a thief may have created things with it before.
      const known = await tx.$queryRaw<{ id: string }[]>`
        SELECT grant_id AS id FROM oauth_artifact
          WHERE model IN ('AccessToken', 'RefreshToken') AND id_hash = ANY (${[...byHash.keys()]}) AND grant_id IS NOT NULL
        UNION SELECT id FROM personal_access_token WHERE token_hash = ANY (${[...byHash.keys()]})`;
      await endDelegationsOf(tx, [...known.map(({ id }) => id), ...named.map(({ grantId }) => grantId)]);
      await notifyOfLeaks(tx, recorded);
    }),
  );
}

/** The finder is not signed in, so the entry has no author. */
async function recordLeak(tx: Db, leaked: LeakedCredential, last4: string, from: RequestOrigin): Promise<boolean> {
  const { kind, id, userId, clientId, orgId, name } = leaked;
  const event: Parameters<typeof recordAboutSomebody>[1] = {
    type: kind === "client_secret" ? "oauth_app.secret_leaked" : "credential.revoke_leaked",
    orgId,
    clientId,
    subjectId: userId,
    data: { kind, tokenId: id, last4, ...(name !== null && { name }) },
    from,
  };
  // Limited (S144), because apps and jobs can get any number of tokens, and one account could report them all.
  if (kind === "ci" || (kind === "oauth" && !orgId)) return recordAboutSomebody(tx, event);
  await recordAuditEvent(tx, event);
  return true;
}

type NamedGrant = { hash: string; grantId: string; exp: number };

type LeakedCredential = {
  kind: "personal" | "oauth" | "ci" | "client_secret";
  hash: string;
  id: string;
  userId: string | null;
  clientId: string | null;
  orgId: string | null;
  name: string | null;
};

/**
 * An app's secret stays valid: a stranger must not lock out an app's users.
 * @param named the Grants that refresh tokens name, because the tokens' rows may have been deleted
 * @returns the credentials that this call ended
 */
export async function endByHash(tx: Db, hashes: string[], named: readonly NamedGrant[] = []): Promise<LeakedCredential[]> {
  const personal = await tx.$queryRaw<LeakedCredential[]>`
    UPDATE personal_access_token SET revoked_at = now()
     WHERE token_hash = ANY (${hashes}) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
    RETURNING 'personal' AS kind, token_hash AS hash, id, user_id AS "userId", NULL AS "clientId", NULL AS "orgId", name`;
  // A used refresh token also proves that its family has leaked (S47).
  const live = named.filter(({ exp }) => exp * 1_000 > Date.now());
  const oauth = await tx.$queryRaw<LeakedCredential[]>`
    WITH found AS (
      SELECT DISTINCT ON (grant_id) grant_id, id_hash FROM (
        SELECT grant_id, id_hash FROM oauth_artifact
         WHERE model IN ('AccessToken', 'RefreshToken') AND id_hash = ANY (${hashes}) AND expires_at > now() AND grant_id IS NOT NULL
        UNION ALL
        SELECT * FROM unnest(${live.map(({ grantId }) => grantId)}::text[], ${live.map(({ hash }) => hash)}::text[])
      ) AS either
    )
    UPDATE oauth_grant g SET revoked_at = now() FROM found WHERE g.id = found.grant_id AND g.revoked_at IS NULL
    RETURNING 'oauth' AS kind, found.id_hash AS hash, g.id, g.user_id AS "userId", g.client_id AS "clientId",
              g.bound_org_id AS "orgId", NULL AS name`;
  const ci = await tx.$queryRaw<LeakedCredential[]>`
    UPDATE ci_token t SET revoked_at = now()
     WHERE t.token_hash = ANY (${hashes}) AND t.revoked_at IS NULL AND t.expires_at > now()
    RETURNING 'ci' AS kind, t.token_hash AS hash, t.id,
              coalesce(t.user_id, (SELECT r.owner_id FROM repo r WHERE r.id = t.repo_id AND r.owner_kind = 'user')) AS "userId", NULL AS "clientId",
              (SELECT r.owner_id FROM repo r WHERE r.id = t.repo_id AND r.owner_kind = 'organization') AS "orgId",
              t.description AS name`;
  // An app's secret stays valid and could be reported again, so only one report a day counts.
  const secrets = await tx.$queryRaw<LeakedCredential[]>`
    WITH live AS (
      SELECT 'client_secret' AS kind, s.secret_hash AS hash, s.id, a.owner_user_id AS "userId", a.client_id AS "clientId",
             coalesce(a.owner_org_id, a.bound_org_id) AS "orgId", NULL AS name
        FROM oauth_app_secret s JOIN oauth_app a ON a.id = s.app_id
       WHERE s.secret_hash = ANY (${hashes}) AND (s.expires_at IS NULL OR s.expires_at > now())
    ), untold AS (
      INSERT INTO throttle AS t (key, count, reset_at) SELECT 'leaked-secret:' || id, 1, now() + interval '1 day' FROM live ORDER BY id
      ON CONFLICT (key) DO UPDATE SET count = 1, reset_at = excluded.reset_at WHERE t.reset_at <= now()
      RETURNING key
    )
    SELECT live.* FROM live JOIN untold ON untold.key = 'leaked-secret:' || live.id`;
  return [...personal, ...oauth, ...ci, ...secrets];
}

const ADMINISTRATORS_MAX = 20;

type Recipient = { userId: string; username: string; email: string };

async function notifyOfLeaks(tx: Db, leaked: readonly LeakedCredential[]): Promise<void> {
  if (leaked.length === 0) return;
  const [recipients, apps] = [await recipientsOf(tx, leaked), await appNames(tx, leaked)];
  const lines = new Map<Recipient, string[]>();
  for (const one of leaked) {
    for (const recipient of recipients.get(one) ?? []) lines.set(recipient, [...(lines.get(recipient) ?? []), lineOf(one, apps)]);
  }
  for (const [recipient, about] of lines) await queueMail(tx, { to: recipient.email, ...leakEmail(recipient, about) });
}

function lineOf({ kind, name, clientId, orgId }: LeakedCredential, apps: ReadonlyMap<string, string>): string {
  const app = (clientId && apps.get(clientId)) ?? clientId;
  if (kind === "personal") return `- your access token "${name}": it is revoked.`;
  if (kind === "oauth" && orgId)
    return `- a token that the app "${app}" got for a member of the organization by token exchange: it is revoked.`;
  if (kind === "oauth")
    return `- a token that the app "${app}" got from you: the app is signed out, and must ask you to sign in again.`;
  if (kind === "ci") return `- a token of the CI job "${name}": it is revoked.`;
  return `- a secret of the app "${app}": it still works, so that your users are not locked out. Rotate it now in the app's settings.`;
}

function leakEmail({ username }: Recipient, lines: readonly string[]): EmailContent {
  const { BRAND_NAME } = env();
  return composeEmail(`Some of your ${BRAND_NAME} credentials have leaked`, username, [
    "Somebody found these in a public place and reported them to us:",
    lines.join("\n"),
    "Find out where they were published, for example in a repository, a log or an image. Then replace them, and check how they were used. An organization's audit log shows this for its credentials, and your security log for your own:",
    link("/settings/security-log"),
  ]);
}

/** An organization's administrators are notified too, because only they can rotate the secret of a bound app. */
async function recipientsOf(tx: Db, leaked: readonly LeakedCredential[]): Promise<Map<LeakedCredential, Recipient[]>> {
  const userIds = leaked.flatMap(({ userId }) => userId ?? []);
  const orgIds = [...new Set(leaked.flatMap(({ orgId }) => orgId ?? []))];
  const rows = await tx.$queryRaw<(Recipient & { orgId: string | null })[]>`
    SELECT u.id AS "userId", u.username, u.email, NULL AS "orgId" FROM "user" u WHERE u.id = ANY (${userIds}) AND u.disabled_at IS NULL
    UNION ALL
    SELECT a.id, a.username, a.email, o.id FROM unnest(${orgIds}::text[]) AS o(id) CROSS JOIN LATERAL (
      SELECT u.id, u.username, u.email FROM membership m JOIN "user" u ON u.id = m.user_id
       WHERE m.org_id = o.id AND m.role = 'admin' AND u.disabled_at IS NULL ORDER BY m.created_at LIMIT ${ADMINISTRATORS_MAX}) a`;
  const [people, administrators] = [new Map<string, Recipient>(), new Map<string, Recipient[]>()];
  for (const { orgId, ...recipient } of rows) {
    const known = people.get(recipient.userId) ?? recipient;
    people.set(recipient.userId, known);
    if (orgId) administrators.set(orgId, [...(administrators.get(orgId) ?? []), known]);
  }
  return new Map(
    leaked.map((one) => {
      const person = one.userId ? people.get(one.userId) : undefined;
      const others = (one.orgId && administrators.get(one.orgId)) || [];
      return [one, [...new Set(person ? [person, ...others] : others)]];
    }),
  );
}

async function appNames(tx: Db, leaked: readonly LeakedCredential[]): Promise<Map<string, string>> {
  const clientIds = leaked.flatMap(({ clientId }) => clientId ?? []);
  const rows = await tx.$queryRaw<{ clientId: string; name: string | null }[]>`
    SELECT client_id AS "clientId", name FROM oauth_app WHERE client_id = ANY (${clientIds})
    UNION ALL
    SELECT client_id, metadata ->> 'client_name' FROM oauth_client_document WHERE client_id = ANY (${clientIds})`;
  return new Map(rows.flatMap(({ clientId, name }) => (name ? [[clientId, name] as const] : [])));
}
