import { type Actor, actorId } from "../../access/actor.ts";
import { discoverKeys } from "../../accounts/publishers/issuer/discover-keys.ts";
import { IssuerUnusable } from "../../accounts/publishers/issuer/fetch-json.ts";
import { publisherColumns, type TrustedPublisher, toPublisher } from "../../accounts/publishers/publisher.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { issuerFieldOf, type NewPublisher, parsePublisher } from "./parse-publisher.ts";
import {
  changeSubject,
  type PublisherSubject,
  recordPublisherAudit,
  requireChangeableSubject,
  subjectColumns,
} from "./publisher-subject.ts";

/** Enough for the pipelines of one repository, few enough for the list to be whole and for each token to be held against all. */
export const PUBLISHERS_MAX = 20;
/** Each may have us ask a server of somebody's choice. */
const ADDITIONS = { limit: 60, windowSeconds: 60 * 60 };

/**
 * Trusts jobs of continuous integration with a repository, or with reading as a user
 * (docs/specification/organizations-and-tokens.md#trusted-publishers). An issuer that somebody named themselves is asked for its keys
 * first, so that a slip shows here and not in a job.
 * @throws ServiceError `invalid_request` with the preset's field, `conflict` (the same again, too many), `not_found`, `forbidden`,
 * `reauthentication_required`, `rate_limited`
 */
export async function addPublisher(
  actor: Actor,
  subject: PublisherSubject,
  input: NewPublisher,
  from: RequestOrigin,
): Promise<TrustedPublisher> {
  await requireChangeableSubject(actor, subject);
  const parsed = parsePublisher(input);
  const issuerField = issuerFieldOf(parsed.preset);
  if (issuerField && parsed.issuer !== "https://gitlab.com") {
    await consumeThrottle(throttleKey("publisher_add", actorId(actor) ?? "command"), ADDITIONS);
    await discoverKeys(parsed.issuer).catch((error: unknown) => {
      if (!(error instanceof IssuerUnusable)) throw error;
      const sentence = `No tokens of this issuer could be checked: ${error.message}.`;
      throw new ServiceError("invalid_request", sentence, { field: issuerField, cause: error });
    });
  }
  return changeSubject(actor, subject, async (tx, changed) => {
    const where = subjectColumns(changed);
    const present = await tx.trustedPublisher.findMany({ where, select: publisherColumns, take: PUBLISHERS_MAX + 1 });
    if (present.some((one) => isSame(toPublisher(one), parsed))) {
      throw new ServiceError("conflict", "These jobs are trusted already.");
    }
    if (present.length >= PUBLISHERS_MAX) {
      throw new ServiceError("conflict", `There are ${PUBLISHERS_MAX} publishers, and no more fit. Remove one first.`);
    }
    const data = { id: newId(), ...where, ...parsed, createdById: actorId(actor) };
    const row = await tx.trustedPublisher.create({ data, select: publisherColumns });
    await recordPublisherAudit(tx, actor, "create", { subject: changed, publisher: toPublisher(row), from });
    return toPublisher(row);
  });
}

type Trusted = Pick<TrustedPublisher, "issuer" | "claims">;

function isSame(one: Trusted, other: Trusted): boolean {
  const text = ({ issuer, claims }: Trusted) => JSON.stringify([issuer, Object.entries(claims).sort()]);
  return text(one) === text(other);
}
