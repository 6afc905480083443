import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import { notifyEveryClientChange } from "../../apps/notify-app-change.ts";
import { parseHostName } from "./host-name.ts";

/**
 * Deletes the rule for a host: from then on a rule for a parent domain or the policy decides.
 * @throws ServiceError `forbidden`, `reauthentication_required` (S113); `not_found` if there is no rule for this very host
 */
export async function removeHostRule(actor: Actor, host: string, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const name = parseHostName(host);
    const found = await tx.oAuthClientHost.findUnique({ where: { host: name } });
    const { count } = await tx.oAuthClientHost.deleteMany({ where: { host: name } });
    if (!found || count === 0) throw notFound(`A rule for ${name}`);
    await recordAuditEvent(tx, {
      type: "oauth_client_host.remove",
      actorId: actorId(actor),
      data: { host: name, rule: found.rule },
      from,
    });
    await notifyEveryClientChange(tx);
  });
}
