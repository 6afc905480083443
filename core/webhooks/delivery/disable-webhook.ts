import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { Db } from "../../db.ts";
import type { DisabledReason } from "../vocabulary.ts";
import type { Attempt } from "./attempt.ts";
import { FAILING_MAX_MS } from "./decide.ts";
import { mailOwner } from "./mail-owner.ts";
import { webhookDisabledLetter } from "./webhook-letters.ts";

/**
 * Disables a webhook whose target is gone, or whose every attempt has failed for five days, and tells its owner (S125, S126).
 * Its waiting deliveries are held from then on. A webhook that was disabled meanwhile, or has delivered, is left unchanged.
 */
export async function disableWebhook(
  tx: Db,
  webhookId: string,
  reason: Extract<DisabledReason, "failing" | "gone">,
  { url, reason: failure, answer }: Attempt,
): Promise<void> {
  const [webhook] = await tx.$queryRaw<{ ownerId: string; ownerKind: "user" | "organization" }[]>`
    UPDATE webhook SET disabled_at = now(), disabled_reason = ${reason}
    WHERE id = ${webhookId} AND disabled_at IS NULL
      AND (${reason} = 'gone' OR failing_since <= now() - make_interval(secs => ${FAILING_MAX_MS / 1000}))
    RETURNING owner_id AS "ownerId", owner_kind AS "ownerKind"`;
  if (!webhook) return;
  const { ownerId, ownerKind } = webhook;
  await recordAuditEvent(tx, {
    type: "webhook.suspend",
    orgId: ownerKind === "organization" ? ownerId : null,
    subjectId: ownerKind === "user" ? ownerId : null,
    data: { webhookId, reason, target: hostOfTarget(url) },
  });
  const lastFailure = answer ? `the target answered ${answer.status}` : failure;
  await mailOwner(tx, { id: ownerId, kind: ownerKind }, (greeted, settings) =>
    webhookDisabledLetter({ webhookId, reason, target: hostOfTarget(url), lastFailure }, greeted, settings),
  );
}

/** The target without path and query, which may contain a secret. */
const hostOfTarget = (url: string | null): string => (url === null ? "a job" : (URL.parse(url)?.host ?? "its address"));
