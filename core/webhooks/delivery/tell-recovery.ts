import type { Db } from "../../db.ts";
import { mailOwner } from "./mail-owner.ts";
import { webhookRecoveredLetter } from "./webhook-letters.ts";

/** On the first delivery after we disabled a webhook and it was enabled again, tells its owner once that it works (S126). */
export async function tellRecovery(tx: Db, webhookId: string): Promise<void> {
  const [webhook] = await tx.$queryRaw<{ ownerId: string; ownerKind: "user" | "organization"; url: string | null }[]>`
    UPDATE webhook SET disabled_reason = NULL
    WHERE id = ${webhookId} AND disabled_at IS NULL AND disabled_reason IN ('failing', 'gone')
    RETURNING owner_id AS "ownerId", owner_kind AS "ownerKind", url`;
  if (!webhook) return;
  const { ownerId, ownerKind, url } = webhook;
  const target = url === null ? "a job" : (URL.parse(url)?.host ?? "its address");
  await mailOwner(tx, { id: ownerId, kind: ownerKind }, (greeted, settings) =>
    webhookRecoveredLetter({ webhookId, target }, greeted, settings),
  );
}
