import { type Db, db } from "../../db.ts";

export type RevokedCiToken = {
  id: string;
  last4: string;
  /** Which run it was given to. */
  description: string;
  publisherId: string;
  /** For a token of one repository: its id and whose it is. */
  repo: { id: string; ownerUserId: string | null; ownerOrgId: string | null } | null;
  /** For a token that reads as a user. */
  userId: string | null;
};

/**
 * Ends the token of a job at once, wherever it was found (S116). Undefined when there is none with this hash that still works.
 * @param tokenHash as `hashToken` makes it
 */
export async function revokeCiToken(tokenHash: string, tx: Db = db()): Promise<RevokedCiToken | undefined> {
  const [row] = await tx.ciToken.updateManyAndReturn({
    where: { tokenHash, revokedAt: null, expiresAt: { gt: new Date() } },
    data: { revokedAt: new Date() },
    select: { id: true, last4: true, description: true, publisherId: true, repoId: true, userId: true },
  });
  if (!row) return undefined;
  const { repoId, ...rest } = row;
  const repo = repoId
    ? await tx.repo.findUnique({ where: { id: repoId }, select: { id: true, ownerId: true, ownerKind: true } })
    : null;
  const isUsers = repo?.ownerKind === "user";
  return {
    ...rest,
    repo: repo && { id: repo.id, ownerUserId: isUsers ? repo.ownerId : null, ownerOrgId: isUsers ? null : repo.ownerId },
  };
}
