import { type Db, db } from "../db.ts";

/** Whether a user's access request for a gated repository was accepted. */
export async function hasGrantedAccess(userId: string, repoId: string, tx: Db = db()): Promise<boolean> {
  const request = await tx.accessRequest.findUnique({ where: { repoId_userId: { repoId, userId } }, select: { status: true } });
  return request?.status === "accepted";
}
