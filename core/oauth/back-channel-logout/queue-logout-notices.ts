import type { Db } from "#core/db.ts";
import { newOrderedId } from "#core/ids.ts";
import { LOGOUT_NOTICE_CHANNEL } from "./logout-notice-table.ts";

export type NewLogoutNotice = { clientId: string; userId: string; sid: string | null };

/** Queues logout notices in the transaction that ends the session; the worker sends them (S109). */
export async function queueLogoutNotices(db: Db, notices: NewLogoutNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await db.oAuthLogoutNotice.createMany({ data: notices.map((notice) => ({ id: newOrderedId(), ...notice })) });
  await db.$executeRaw`select pg_notify(${LOGOUT_NOTICE_CHANNEL}, '')`; // at commit
}
