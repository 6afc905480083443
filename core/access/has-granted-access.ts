import { type Db, db } from "../db.ts";

/** Whether a person asked for a gated repository and was let in. */
export async function hasGrantedAccess(userId: string, repoId: string, tx: Db = db()): Promise<boolean> {
  const request = await tx.accessRequest.findUnique({ where: { repoId_userId: { repoId, userId } }, select: { status: true } });
  return request?.status === "accepted";
}
