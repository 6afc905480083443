import { db } from "../../db.ts";
import { describeDevice } from "./describe-device.ts";

export type ListedSiteSession = {
  id: string;
  device: string;
  ip: string | null;
  createdAt: Date;
  lastSeenAt: Date;
};

const LIST_MAX_ROWS = 100;

/** The most recently used sessions come first (S113). */
export async function listSiteSessions(userId: string): Promise<ListedSiteSession[]> {
  const rows = await db().siteSession.findMany({
    where: { userId, endedAt: null, expiresAt: { gt: new Date() } },
    orderBy: [{ lastSeenAt: "desc" }, { id: "desc" }],
    take: LIST_MAX_ROWS,
    select: { id: true, ip: true, userAgent: true, createdAt: true, lastSeenAt: true },
  });
  return rows.map(({ userAgent, ...session }) => ({ ...session, device: describeDevice(userAgent) }));
}
