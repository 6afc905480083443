import type { Actor } from "../../access/actor.ts";
import { publisherColumns, toPublisher } from "../../accounts/publishers/publisher.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { changeSubject, type PublisherSubject, recordPublisherAudit, subjectColumns } from "./publisher-subject.ts";

/**
 * Trusts somebody no longer. The tokens that they got end with it, at once. Another subject's publisher answers like an unknown one.
 * @throws ServiceError `not_found`, `forbidden`, `reauthentication_required`
 */
export async function removePublisher(
  actor: Actor,
  subject: PublisherSubject,
  publisherId: string,
  from: RequestOrigin,
): Promise<void> {
  await changeSubject(actor, subject, async (tx, changed) => {
    const where = { id: publisherId, ...subjectColumns(changed) };
    const row = isId(publisherId) ? await tx.trustedPublisher.findFirst({ where, select: publisherColumns }) : null;
    const { count } = row ? await tx.trustedPublisher.deleteMany({ where }) : { count: 0 };
    if (!row || count === 0) throw notFound("Publisher");
    await recordPublisherAudit(tx, actor, "delete", { subject: changed, publisher: toPublisher(row), from });
  });
}
