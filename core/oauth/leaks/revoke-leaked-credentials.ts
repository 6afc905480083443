import { endDelegationsOf } from "#core/access/delegation.ts";
import { takeAtLeast } from "#core/accounts/take-at-least.ts";
import { consumeAddressThrottle } from "#core/accounts/throttle.ts";
import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken } from "#core/crypto/token.ts";
import { type Db, inTransaction } from "#core/db.ts";
import { endByHash, type LeakedCredential } from "./end-by-hash.ts";
import { tellOfLeaks } from "./tell-of-leaks.ts";

/** docs/specification/organizations-and-tokens.md#leaked-tokens */
export const LEAKED_MAX_CREDENTIALS = 1_000;
export const LEAKED_MAX_CHARACTERS = 200;

const LIMIT = { limit: 60, windowSeconds: 10 * 60 };
/** Longer than the lookup takes: timing must not reveal whether anything was found. */
const ANSWER_MS = 400;

/**
 * Revokes tokens that somebody found in the wrong place. No authentication is needed: whoever has a token could do worse with it.
 * Everything takes the same few statements, however many tokens there are, and the response says nothing, so it cannot be used to test
 * tokens.
 * @throws ServiceError `rate_limited`
 */
export async function revokeLeakedCredentials(credentials: readonly string[], from: RequestOrigin): Promise<void> {
  await consumeAddressThrottle("leaked-credentials", from.ip ?? "unknown", LIMIT);
  const byHash = new Map(credentials.map((credential) => [hashToken(credential), credential.slice(-4)]));
  await takeAtLeast(ANSWER_MS, () =>
    inTransaction(async (tx) => {
      const ended = await endByHash(tx, [...byHash.keys()]);
      const recorded: LeakedCredential[] = [];
      for (const one of ended) if (await recordLeak(tx, one, byHash.get(one.hash) ?? "", from)) recorded.push(one);
      // What was created with an expired token may also be the work of whoever had it.
      const known = await tx.$queryRaw<{ id: string }[]>`
        SELECT grant_id AS id FROM oauth_artifact
          WHERE model IN ('AccessToken', 'RefreshToken') AND id_hash = ANY (${[...byHash.keys()]}) AND grant_id IS NOT NULL
        UNION SELECT id FROM personal_access_token WHERE token_hash = ANY (${[...byHash.keys()]})`;
      await endDelegationsOf(
        tx,
        known.map(({ id }) => id),
      );
      await tellOfLeaks(tx, recorded);
    }),
  );
}

/** The log has the finder's address; the finder has no account in it. */
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
  // Apps and jobs get tokens without an entry, so that one account could get and report them without end (S144). An exchanged one has one.
  if (kind === "ci" || (kind === "oauth" && !orgId)) return recordAboutSomebody(tx, event);
  await recordAuditEvent(tx, event);
  return true;
}
