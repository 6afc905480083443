import type { Db } from "../../db.ts";

/** The channel on which every process hears, at commit, which client it must read anew. */
export const APP_CHANGE_CHANNEL = "oauth_app";

export async function notifyAppChange(tx: Db, clientId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_notify(${APP_CHANGE_CHANNEL}, ${clientId})`;
}

/** The same for whatever concerns many clients at once. */
export async function notifyEveryClientChange(tx: Db): Promise<void> {
  await notifyAppChange(tx, "");
}
