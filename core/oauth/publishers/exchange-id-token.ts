import type { JWTPayload } from "jose";
import { differingClaim } from "#core/accounts/publishers/compare-claims.ts";
import { publisherColumns, type TrustedPublisher, toPublisher } from "#core/accounts/publishers/publisher.ts";
import { consumeThrottle, throttleKey } from "#core/accounts/throttle.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { isFirstUse } from "../replay.ts";
import { decodeIdToken, flawOf, quoted, SKEW_SECONDS, type UnprovenIdToken } from "./id-token.ts";
import { type IssuedCiToken, issueCiToken } from "./issue-ci-token.ts";
import { noteRefusal } from "./note-refusal.ts";
import type { CiRequest } from "./read-ci-request.ts";
import { findResource, type Resource } from "./resource.ts";
import { verifyIdToken } from "./verify-id-token.ts";

/** Why a token was not exchanged. */
export type Refusal = {
  /** For whoever sent the token; undefined where anything of it would tell what is trusted here, or what is here at all (S136). */
  flaw?: string;
  /** For those who manage the resource. */
  reason: string;
  /** Whose issuer has signed it, or could not be asked: theirs is the list in which the reason is shown. */
  publishers: readonly TrustedPublisher[];
};

type RefusedExchange = { refused: UnprovenIdToken; flaw: string | undefined };

/**
 * The exchange of a CI job's ID token, read top to bottom (S98–S100): the resource → whom it trusts of this issuer, before anything is
 * fetched → the signature → every claim → ids that were recorded → used for the first time → the token. Whatever fails is noted for
 * those who manage the resource, if there is one.
 * @throws ProtocolError `invalid_request` for what is no token; ServiceError `rate_limited`
 */
export async function exchangeIdToken(
  { subjectToken, target }: CiRequest,
  from: RequestOrigin,
): Promise<IssuedCiToken | RefusedExchange> {
  const token = decodeIdToken(subjectToken);
  const resource = await findResource(target);
  const flaw = flawOf(token);
  if (flaw !== undefined) return refusedWith({ ...refuse(flaw), flaw });
  const trusted = resource ? await trustedIn(resource, token) : refuse("there is no such resource");
  if (!("publisher" in trusted)) return refusedWith(trusted);
  await consumeThrottle(throttleKey("ci_exchange_publisher", trusted.publisher.id), OF_PUBLISHER);
  if (!(await isFirstUseOf(token))) {
    return refusedWith({ ...refuse("the token was used before", [trusted.publisher]), flaw: USED });
  }
  const issued = await issueCiToken(trusted.resource, trusted.publisher, trusted.claims, from);
  return issued ?? refusedWith(refuse("the publisher was changed meanwhile", [trusted.publisher]));

  async function refusedWith(refusal: Refusal): Promise<RefusedExchange> {
    if (resource) await noteRefusal(resource, token, refusal, from);
    return { refused: token, flaw: refusal.flaw };
  }
}

/** More than a matrix of jobs wants. Counted only for tokens that are trusted, so that nobody else can use it up. */
const OF_PUBLISHER = { limit: 120, windowSeconds: 60 };

const USED = "the token was used before; each can be exchanged once, so ask for a new one";

type Trusted = { resource: Resource; publisher: TrustedPublisher; claims: JWTPayload };

async function trustedIn(resource: Resource, token: UnprovenIdToken): Promise<Trusted | Refusal> {
  const { issuer = "" } = token;
  const publishers = await publishersOf(resource, issuer);
  if (publishers.length === 0) return refuse("no publisher is trusted with the token's issuer");
  const verified = await verifyIdToken({ ...token, issuer });
  if ("unproven" in verified) return refuse(verified.unproven, verified.isIssuerDown ? publishers : []);
  const { claims } = verified;
  const publisher = publishers.find((one) => differingClaim({ ...one.claims, ...one.pinned }, claims) === undefined);
  return publisher ? { resource, publisher, claims } : refuse(differenceFrom(publishers, claims), publishers);
}

/** What differs, by the publisher that comes nearest. */
function differenceFrom(publishers: readonly TrustedPublisher[], claims: JWTPayload): string {
  const [{ claims: wanted, pinned } = { claims: {}, pinned: {} }] = publishers;
  const name = differingClaim(wanted, claims);
  if (name !== undefined) return `the claim ${name} is ${quoted(claims[name] ?? "absent")}`;
  const id = differingClaim(pinned, claims) ?? "";
  return `the claim ${id} is ${quoted(claims[id] ?? "absent")}, not what was recorded with the first run: it is another repository or owner of the same name`;
}

const refuse = (reason: string, publishers: readonly TrustedPublisher[] = []): Refusal => ({ reason, publishers });

async function publishersOf(resource: Resource, issuer: string): Promise<TrustedPublisher[]> {
  if (issuer.includes("\0") || !issuer.isWellFormed()) return [];
  const rows = await db().trustedPublisher.findMany({
    where: { ...("repo" in resource ? { repoId: resource.repo.id } : { userId: resource.user.id }), issuer },
    orderBy: { id: "asc" },
    select: publisherColumns,
  });
  return rows.map(toPublisher);
}

/** S99: by the issuer's own number for the token, or where it gives none by the token itself. */
function isFirstUseOf({ text, issuer, claims }: UnprovenIdToken): Promise<boolean> {
  // The part that is signed: the rest can be spelled in several ways.
  const id = typeof claims.jti === "string" && claims.jti !== "" ? claims.jti : hashToken(text.slice(0, text.lastIndexOf(".")));
  return isFirstUse(`ci:${issuer}`, id, Number(claims.exp) + SKEW_SECONDS);
}
