import { endDelegationsOf } from "#core/access/delegation.ts";
import { takeAtLeast } from "#core/accounts/take-at-least.ts";
import { consumeAddressThrottle } from "#core/accounts/throttle.ts";
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
/** Longer than looking takes: whether anything was found is not to be told by the time either. */
const ANSWER_MS = 400;

/**
 * Ends tokens that somebody has found where they should not be. Nobody need say who they are: whoever has a token could do worse with
 * it. All of it takes the same few statements, however many there are, and nothing is answered, so that it tests no token.
 * @throws ServiceError `rate_limited`
 */
export async function revokeLeakedCredentials(credentials: readonly string[], from: RequestOrigin): Promise<void> {
  await consumeAddressThrottle("leaked-credentials", from.ip ?? "unknown", LIMIT);
  const byHash = new Map(credentials.map((credential) => [hashToken(credential), credential.slice(-4)]));
  await takeAtLeast(ANSWER_MS, () =>
    inTransaction(async (tx) => {
      const ended = await endByHash(tx, [...byHash.keys()]);
      for (const one of ended) await recordLeak(tx, one, byHash.get(one.hash) ?? "", from);
      // What was made with a token that is over already was made by whoever had it, too.
      const known = await tx.$queryRaw<{ id: string }[]>`
        SELECT grant_id AS id FROM oauth_artifact
          WHERE model IN ('AccessToken', 'RefreshToken') AND id_hash = ANY (${[...byHash.keys()]}) AND grant_id IS NOT NULL
        UNION SELECT id FROM personal_access_token WHERE token_hash = ANY (${[...byHash.keys()]})`;
      await endDelegationsOf(
        tx,
        known.map(({ id }) => id),
      );
      await tellOfLeaks(tx, ended);
    }),
  );
}

/** The finder's address is in the log; the finder is nobody in particular. */
async function recordLeak(tx: Db, leaked: LeakedCredential, last4: string, from: RequestOrigin): Promise<void> {
  const { kind, id, userId, clientId, orgId, name } = leaked;
  await recordAuditEvent(tx, {
    type: kind === "client_secret" ? "oauth_app.secret_leaked" : "credential.revoke_leaked",
    orgId,
    clientId,
    subjectId: userId,
    data: { kind, tokenId: id, last4, ...(name !== null && { name }) },
    from,
  });
}
