import type { JWTPayload } from "jose";
import { hasRequiredClaims, textOfClaim } from "#core/accounts/publishers/compare-claims.ts";
import type { Claims } from "#core/accounts/publishers/preset.ts";
import { presets } from "#core/accounts/publishers/presets.ts";
import { publisherColumns, type TrustedPublisher, toPublisher } from "#core/accounts/publishers/publisher.ts";
import { ciTokenKinds } from "#core/accounts/tokens/find-ci-token.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken, newToken } from "#core/crypto/token.ts";
import { type Db, db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { newId } from "#core/ids.ts";
import { auditedAs, type Resource } from "./resource.ts";

/** See S99, docs/specification/organizations-and-tokens.md#trusted-publishers. */
const CI_TOKEN_SECONDS = 3600;

export type IssuedCiToken = { token: string; expiresInSeconds: number };

/**
 * A publisher's exchanges run one after the other, because the first one records IDs that the provider never reassigns (S100).
 * @returns undefined if the publisher was removed or used by another repository meanwhile
 */
export async function issueCiToken(
  resource: Resource,
  { id: publisherId }: Pick<TrustedPublisher, "id">,
  claims: JWTPayload,
  from: RequestOrigin,
): Promise<IssuedCiToken | undefined> {
  const token = newToken(`${env().TOKEN_PREFIX}${ciTokenKinds["repo" in resource ? "repo" : "user"]}_`);
  return db().$transaction(async (tx) => {
    const publisher = await lockPublisher(tx, publisherId);
    if (!publisher || !hasRequiredClaims(publisher, claims)) return undefined;
    const tokenId = newId();
    const description = runOf(publisher, claims);
    await tx.trustedPublisher.update({
      where: { id: publisherId },
      data: {
        lastUsedAt: new Date(),
        pinned: { ...immutableIds(publisher, claims), ...publisher.pinned },
        lastRefusal: null,
        lastRefusedAt: null,
      },
    });
    await tx.ciToken.create({
      data: {
        id: tokenId,
        tokenHash: hashToken(token),
        last4: token.slice(-4),
        publisherId,
        ...("repo" in resource ? { repoId: resource.repo.id } : { userId: resource.user.id }),
        description,
        expiresAt: new Date(Date.now() + CI_TOKEN_SECONDS * 1000),
      },
    });
    const { data, ...audited } = auditedAs(resource);
    const issued = { publisherId, tokenId, issuer: publisher.issuer, run: description };
    await recordAuditEvent(tx, { type: "ci_token.exchange", ...audited, data: { ...data, ...issued }, from });
    return { token, expiresInSeconds: CI_TOKEN_SECONDS };
  });
}

async function lockPublisher(tx: Db, id: string): Promise<TrustedPublisher | undefined> {
  await tx.$queryRaw`SELECT FROM trusted_publisher WHERE id = ${id} FOR NO KEY UPDATE`;
  const row = await tx.trustedPublisher.findUnique({ where: { id }, select: publisherColumns });
  return row ? toPublisher(row) : undefined;
}

function immutableIds({ preset }: TrustedPublisher, claims: JWTPayload): Claims {
  const found = presets[preset].immutable.map((name) => [name, textOfClaim(claims, name)] as const);
  return Object.fromEntries(found.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
}

const MAX_CHARACTERS = 300;

function runOf({ preset, issuer }: TrustedPublisher, claims: JWTPayload): string {
  const words = presets[preset].run.map((name) => textOfClaim(claims, name)).filter((text) => text !== undefined);
  const name = preset === "oidc" ? new URL(issuer).host : presets[preset].label;
  return [name, ...words].join(" ").replaceAll("\0", "").toWellFormed().slice(0, MAX_CHARACTERS);
}
