import type { Db } from "../../db.ts";

/** The channel that tells every process, at commit, which client it must read again. */
export const APP_CHANGE_CHANNEL = "oauth_app";

export async function notifyAppChange(tx: Db, clientId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_notify(${APP_CHANGE_CHANNEL}, ${clientId})`;
}

/** The same for a change that affects many clients. */
export async function notifyEveryClientChange(tx: Db): Promise<void> {
  await notifyAppChange(tx, "");
}
