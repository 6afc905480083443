import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { isDatabaseDown } from "#core/database-errors.ts";
import { db } from "#core/db.ts";
import { isListening, listen } from "#core/notifications.ts";

type RegistrationPolicy = {
  isOn: boolean;
  changedAt: Date | null;
};

const KEY = "registration";
const CHANNEL = "registration_policy";
// The value is trusted only this long: a connection that died silently looks idle.
const TRUST_MS = 30_000;

export async function readRegistrationPolicy(): Promise<RegistrationPolicy> {
  const row = await db().setting.findUnique({ where: { key: KEY } });
  return { isOn: (row?.value as { isOn?: unknown } | undefined)?.isOn === true, changedAt: row?.updatedAt ?? null };
}

/** Registered apps stay (S113). */
export async function setRegistrationPolicy(
  actor: Actor,
  { isOn }: Pick<RegistrationPolicy, "isOn">,
  from: RequestOrigin,
): Promise<RegistrationPolicy> {
  return db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const before = await tx.setting.findUnique({ where: { key: KEY } });
    const change = { value: { isOn }, updatedAt: new Date() };
    await tx.setting.upsert({ where: { key: KEY }, create: { key: KEY, ...change }, update: change });
    await recordAuditEvent(tx, {
      type: "installation.registration_policy",
      actor,
      data: { isOn, before: before?.value ?? null },
      from,
    });
    await tx.$executeRaw`SELECT pg_notify(${CHANNEL}, '')`;
    return { isOn, changedAt: change.updatedAt };
  });
}

type Kept = { isOn: boolean; readAt: number; isWatched: boolean; notified: number };
const keeper = globalThis as typeof globalThis & { keyhookRegistration?: Kept };

export async function isRegistrationOn(): Promise<boolean> {
  keeper.keyhookRegistration ??= { isOn: false, readAt: Number.NEGATIVE_INFINITY, isWatched: false, notified: 0 };
  const kept = keeper.keyhookRegistration;
  if (!kept.isWatched) {
    kept.isWatched = true;
    void listen(CHANNEL, () => {
      kept.notified += 1;
      kept.readAt = Number.NEGATIVE_INFINITY;
    });
  }
  if (isListening() && Date.now() - kept.readAt < TRUST_MS) return kept.isOn;
  const [readAt, { notified }] = [Date.now(), kept];
  try {
    const { isOn } = await readRegistrationPolicy();
    if (kept.notified === notified) Object.assign(kept, { isOn, readAt });
    return isOn;
  } catch (error) {
    // Discovery must respond while the database is down.
    if (isDatabaseDown(error)) return kept.isOn;
    throw error;
  }
}
