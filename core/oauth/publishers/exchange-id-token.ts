import type { JWTPayload } from "jose";
import { differingClaim, isMetBy } from "#core/accounts/publishers/compare-claims.ts";
import { publisherColumns, type TrustedPublisher, toPublisher } from "#core/accounts/publishers/publisher.ts";
import { consumeThrottles, throttleKey } from "#core/accounts/throttle.ts";
import { ENTRIES_WITH_TOKENS_PER_HOUR } from "#core/audit/hourly-allowance.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { isFirstUse } from "../replay.ts";
import { decodeIdToken, flawOf, overAt, quoted, type UnprovenIdToken } from "./id-token.ts";
import { type IssuedCiToken, issueCiToken } from "./issue-ci-token.ts";
import { noteRefusal } from "./note-refusal.ts";
import type { CiRequest } from "./read-ci-request.ts";
import { findResource, type Resource } from "./resource.ts";
import { verifyIdToken } from "./verify-id-token.ts";

/** Why a token was not exchanged. */
export type Refusal = {
  /** For whoever sent the token; undefined where anything of it would tell what is trusted here, or what is here at all (S136). */
  flaw?: string;
  /** For the log of those who manage the resource. */
  reason: string;
  /** The same of each publisher whose issuer has signed the token, or could not be asked: it is shown beside it. */
  of: readonly RefusedPublisher[];
};

export type RefusedPublisher = { id: string; reason: string };

type RefusedExchange = { refused: UnprovenIdToken; flaw: string | undefined };

/**
 * The exchange of a CI job's ID token, read top to bottom (S98–S100): the resource → whom it trusts of this issuer → the signature, if
 * anybody here trusts the issuer → every claim → ids that were recorded → used for the first time → the token. Whatever fails is noted for
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
  const trusted = await trustedIn(resource, token);
  if (!("publisher" in trusted)) return refusedWith(trusted);
  const { id, createdById } = trusted.publisher;
  await consumeThrottles([[throttleKey("ci_exchange_publisher", id), OF_PUBLISHER]]);
  if (!(await isFirstUseOf(token))) {
    return refusedWith({ ...refuseBy([trusted.publisher], "the token was used before"), flaw: USED });
  }
  await consumeThrottles([
    [throttleKey("ci_exchange_publisher_hour", id), OF_PUBLISHER_IN_HOUR],
    [throttleKey("ci_exchange_truster", createdById ?? id), OF_TRUSTER],
  ]);
  const issued = await issueCiToken(trusted.resource, trusted.publisher, trusted.claims, from);
  return issued ?? refusedWith(refuseBy([trusted.publisher], "another job was the first, of another repository or owner"));

  async function refusedWith(refusal: Refusal): Promise<RefusedExchange> {
    if (resource) await noteRefusal(resource, token, refusal, from);
    return { refused: token, flaw: refusal.flaw };
  }
}

/** More than a matrix of jobs wants. Counted only for tokens that are trusted, so that nobody else can use it up. */
const OF_PUBLISHER = { limit: 120, windowSeconds: 60 };
/**
 * Each exchange is an entry in the audit log, and whoever trusts an issuer of their own has as many tokens as they like. So all publishers
 * that one person set up have together what the person's own tokens have (S144).
 */
export const OF_TRUSTER = { limit: ENTRIES_WITH_TOKENS_PER_HOUR, windowSeconds: 60 * 60 };
/** A third of that for one publisher: jobs that somebody else controls cannot lock out the other publishers of the same person. */
export const OF_PUBLISHER_IN_HOUR = { ...OF_TRUSTER, limit: OF_TRUSTER.limit / 3 };

const USED = "the token was used before; each can be exchanged once, so ask for a new one";

type Trusted = { resource: Resource; publisher: TrustedPublisher; claims: JWTPayload };

async function trustedIn(resource: Resource | undefined, token: UnprovenIdToken): Promise<Trusted | Refusal> {
  const { issuer = "" } = token;
  const publishers = resource ? await publishersOf(resource, issuer) : [];
  const isAsked = publishers.length > 0 || (await isTrustedBySomebody(issuer));
  // For a resource that does not trust it, or is not there, too: the time that new keys take is not to tell them apart (S136).
  const verified = isAsked ? await verifyIdToken({ ...token, issuer }) : undefined;
  if (!resource) return refuse("there is no such resource");
  if (!verified || publishers.length === 0) return refuse("no publisher is trusted with the token's issuer");
  if ("unproven" in verified) return refuseBy(verified.isIssuerDown ? publishers : [], verified.unproven);
  const { claims } = verified;
  const publisher = publishers.find((one) => isMetBy(one, claims));
  if (publisher) return { resource, publisher, claims };
  const of = publishers.map((one) => ({ id: one.id, reason: differenceFrom(one, claims) }));
  return { reason: of.map(({ reason }) => reason).join("; "), of };
}

/** What differs first, what was set up before what was recorded. */
function differenceFrom({ claims: wanted, pinned }: TrustedPublisher, claims: JWTPayload): string {
  const name = differingClaim(wanted, claims);
  if (name !== undefined) return `the claim ${name} is ${quoted(claims[name] ?? "absent")}`;
  const id = differingClaim(pinned, claims);
  if (id === undefined) return "the publisher names no claims; add it anew";
  return `the claim ${id} is ${quoted(claims[id] ?? "absent")}, not what was recorded with the first run: it is another repository or owner of the same name`;
}

const refuse = (reason: string): Refusal => ({ reason, of: [] });
const refuseBy = (publishers: readonly TrustedPublisher[], reason: string): Refusal => ({
  reason,
  of: publishers.map(({ id }) => ({ id, reason })),
});

async function publishersOf(resource: Resource, issuer: string): Promise<TrustedPublisher[]> {
  if (!isStorable(issuer)) return [];
  const rows = await db().trustedPublisher.findMany({
    where: { ...("repo" in resource ? { repoId: resource.repo.id } : { userId: resource.user.id }), issuer },
    orderBy: { id: "asc" },
    select: publisherColumns,
  });
  return rows.map(toPublisher);
}

const isTrustedBySomebody = async (issuer: string): Promise<boolean> =>
  isStorable(issuer) && (await db().trustedPublisher.findFirst({ where: { issuer }, select: { id: true } })) !== null;

const isStorable = (issuer: string): boolean => !issuer.includes("\0") && issuer.isWellFormed();

/** S99: by the issuer's own number for the token, or where it gives none by the token itself. */
function isFirstUseOf(token: UnprovenIdToken): Promise<boolean> {
  const { text, issuer, claims } = token;
  // The part that is signed: the rest can be spelled in several ways.
  const id = typeof claims.jti === "string" && claims.jti !== "" ? claims.jti : hashToken(text.slice(0, text.lastIndexOf(".")));
  return isFirstUse(`ci:${issuer}`, id, overAt(token));
}
