import type { JWTPayload } from "jose";
import { differingClaim, hasRequiredClaims, isAmbiguous, missingBeside } from "#core/accounts/publishers/compare-claims.ts";
import { publisherColumns, type TrustedPublisher, toPublisher } from "#core/accounts/publishers/publisher.ts";
import { consumeThrottles, mayRecord, throttleKey } from "#core/accounts/throttle.ts";
import { ENTRIES_WITH_TOKENS_PER_HOUR } from "#core/audit/hourly-allowance.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { log } from "#core/log.ts";
import { isFirstUse } from "../artifacts/is-first-use.ts";
import type { CiRequest } from "./answer-ci-exchange.ts";
import { decodeIdToken, flawOf, quoted, tokenEndsAt, type UnprovenIdToken, verifyIdToken } from "./id-token.ts";
import { type IssuedCiToken, issueCiToken } from "./issue-ci-token.ts";
import { auditedAs, findResource, type Resource } from "./resource.ts";

type Refusal = {
  /** Shown to the sender. Undefined if it would reveal which issuers are trusted or which resources exist (S136). */
  flaw?: string;
  reason: string;
  of: readonly RefusedPublisher[];
  /** The issuer signed the token. Strangers cannot use up the entries of such refusals. */
  isProven: boolean;
};

type RefusedPublisher = { id: string; reason: string };

type RefusedExchange = { refused: UnprovenIdToken; flaw: string | undefined };

/** Stores the reason of a failure for the managers of the resource (S98–S100). */
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
  await consumeThrottles([[throttleKey("ci_exchange_publisher", id), EXCHANGES_OF_PUBLISHER]]);
  if (!(await isFirstUseOf(token))) {
    return refusedWith({ ...refuseBy([trusted.publisher], "the token was used before"), flaw: USED });
  }
  await consumeThrottles([
    [throttleKey("ci_exchange_publisher_hour", id), HOURLY_EXCHANGES_OF_PUBLISHER],
    [throttleKey("ci_exchange_truster", createdById ?? id), HOURLY_EXCHANGES_OF_USER],
  ]);
  const issued = await issueCiToken(trusted.resource, trusted.publisher, trusted.claims, from);
  return issued ?? refusedWith(refuseBy([trusted.publisher], "a job of another repository or owner used this publisher first"));

  async function refusedWith(refusal: Refusal): Promise<RefusedExchange> {
    if (resource) await noteRefusal(resource, token, refusal, from);
    return { refused: token, flaw: refusal.flaw };
  }
}

/** Only trusted tokens count, so strangers cannot use up the limit. */
const EXCHANGES_OF_PUBLISHER = { limit: 120, windowSeconds: 60 };
/** A user may control issuers, so all of the user's publishers together have the limit of the user's tokens (S144). */
export const HOURLY_EXCHANGES_OF_USER = { limit: ENTRIES_WITH_TOKENS_PER_HOUR, windowSeconds: 60 * 60 };
/** Jobs that somebody else controls must not lock out the user's other publishers. */
export const HOURLY_EXCHANGES_OF_PUBLISHER = { ...HOURLY_EXCHANGES_OF_USER, limit: HOURLY_EXCHANGES_OF_USER.limit / 3 };

const USED = "the token was already used; request a new one, because each can be exchanged only once";

type Trusted = { resource: Resource; publisher: TrustedPublisher; claims: JWTPayload };

async function trustedIn(resource: Resource | undefined, token: UnprovenIdToken): Promise<Trusted | Refusal> {
  const { issuer = "" } = token;
  const publishers = resource ? await publishersOf(resource, issuer) : [];
  const isAsked = publishers.length > 0 || (await isTrustedBySomebody(issuer));
  // The issuer is asked even if the resource does not exist, because the time must not reveal that (S136).
  const verified = isAsked ? await verifyIdToken({ ...token, issuer }) : undefined;
  if (!resource) return refuse("there is no such resource");
  if (!verified || publishers.length === 0) return refuse("no trusted publisher has the token's issuer");
  if ("unproven" in verified) return { ...refuseBy(verified.isIssuerDown ? publishers : [], verified.unproven), isProven: false };
  const { claims } = verified;
  const publisher = publishers.find((one) => hasRequiredClaims(one, claims));
  if (publisher) return { resource, publisher, claims };
  const of = publishers.map((one) => ({ id: one.id, reason: differenceFrom(one, claims) }));
  return { reason: of.map(({ reason }) => reason).join("; "), of, isProven: true };
}

function differenceFrom({ claims: wanted, pinned }: TrustedPublisher, claims: JWTPayload): string {
  const name = differingClaim(wanted, claims);
  if (name !== undefined && isAmbiguous(claims, name))
    return "the pipeline belongs to a merge request or is a child pipeline, so its branch or tag does not count";
  const missing = name !== undefined && missingBeside(wanted, claims, name);
  if (missing) return `the publisher has the claim ${name} without ${missing}; add the publisher again`;
  if (name !== undefined) return `the claim ${name} is ${quoted(claims[name] ?? "absent")}`;
  const id = differingClaim(pinned, claims);
  if (id === undefined) return "the publisher has no claims; add it again";
  return `the claim ${id} is ${quoted(claims[id] ?? "absent")}, not what was recorded with the first run: this is another repository or owner with the same name`;
}

const refuse = (reason: string): Refusal => ({ reason, of: [], isProven: false });
const refuseBy = (publishers: readonly TrustedPublisher[], reason: string): Refusal => ({
  reason,
  of: publishers.map(({ id }) => ({ id, reason })),
  isProven: true,
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

/** S99: the `jti` identifies a token. Without one, the token's text does. */
function isFirstUseOf(token: UnprovenIdToken): Promise<boolean> {
  const { text, issuer, claims } = token;
  // The signature is left out, because it has several encodings.
  const id = typeof claims.jti === "string" && claims.jti !== "" ? claims.jti : hashToken(text.slice(0, text.lastIndexOf(".")));
  return isFirstUse(`ci:${issuer}`, id, tokenEndsAt(token));
}

/** Limited, because anybody can cause any number of refusals. */
const REFUSALS_OF_RESOURCE = 60;

/** See S99, S116, S144. */
async function noteRefusal(
  resource: Resource,
  { issuer, claims }: UnprovenIdToken,
  { reason, of, isProven }: Refusal,
  from: RequestOrigin,
): Promise<void> {
  const { data, ...audited } = auditedAs(resource);
  const subject = "repo" in resource ? resource.repo.id : resource.user.id;
  const counted = { subject, limit: REFUSALS_OF_RESOURCE, ip: from.ip };
  // The reason is stored even above the limit, because it explains a failed job and adds no row.
  for (const { id: publisherId, reason: own } of of) {
    const data = { lastRefusal: storable(own), lastRefusedAt: new Date() };
    await db().trustedPublisher.updateMany({ where: { id: publisherId }, data });
  }
  if (!(await mayRecord(isProven ? "ci_refusal" : "ci_refusal_unproven", counted))) {
    log().info({ ...data, reason, issuer: quoted(issuer) }, "a job was refused a token, after many other refusals");
    return;
  }
  const words = { error: storable(reason), issuer: storable(quoted(issuer)), subject: storable(quoted(claims.sub ?? "")) };
  await recordAuditEvent(db(), { type: "ci_token.exchange_refused", ...audited, data: { ...data, ...words }, from });
}

const storable = (text: string): string => text.replaceAll("\0", "").toWellFormed().slice(0, 1_000);
