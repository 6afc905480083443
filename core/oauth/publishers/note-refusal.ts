import { isRefusalRecorded } from "#core/accounts/throttle.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { log } from "#core/log.ts";
import type { Refusal } from "./exchange-id-token.ts";
import { quoted, type UnprovenIdToken } from "./id-token.ts";
import { auditedAs, type Resource } from "./resource.ts";

/** Anybody can have a token refused, as often as they like: an hour's log of one resource must not be theirs to fill. */
export const REFUSALS_OF_RESOURCE = 60;

/** Tells those who manage a resource that a token was refused, and why (S99, S116, S144). */
export async function noteRefusal(
  resource: Resource,
  { issuer, claims }: UnprovenIdToken,
  { reason, of }: Refusal,
  from: RequestOrigin,
): Promise<void> {
  const { data, ...audited } = auditedAs(resource);
  const isProven = of.length > 0;
  const subject = "repo" in resource ? resource.repo.id : resource.user.id;
  const counted = { subject, limit: REFUSALS_OF_RESOURCE, ip: from.ip };
  // Beyond the limits as well: it is what explains a failed job to whoever set the publisher up, and adds no row.
  for (const { id: publisherId, reason: own } of of) {
    const data = { lastRefusal: storable(own), lastRefusedAt: new Date() };
    await db().trustedPublisher.updateMany({ where: { id: publisherId }, data });
  }
  if (!(await isRefusalRecorded(isProven ? "ci_refusal" : "ci_refusal_unproven", counted))) {
    log().info({ ...data, reason, issuer: quoted(issuer) }, "a job was refused a token, as many were before it");
    return;
  }
  const words = { error: storable(reason), issuer: storable(quoted(issuer)), subject: storable(quoted(claims.sub ?? "")) };
  await recordAuditEvent(db(), { type: "ci_token.exchange_refused", ...audited, data: { ...data, ...words }, from });
}

/** A token's words, as Postgres can hold them. */
const storable = (text: string): string => text.replaceAll("\0", "").toWellFormed().slice(0, 1_000);
