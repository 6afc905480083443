import { type Db, db } from "../../db.ts";

/** The public profile of a user or an organization, visible to everybody at `/<handle>`. */
export type Owner = {
  kind: "user" | "organization";
  id: string;
  /** As its owner spells it. */
  handle: string;
  fullName: string;
  website: string | null;
  avatarId: string | null;
  createdAt: Date;
};

/** Finds the owner of a handle, in any spelling; undefined for unknown and deleted ones and disabled users. */
export async function findOwner(handle: string, tx: Db = db()): Promise<Owner | undefined> {
  if (handle.length > 100 || handle.includes("\0")) return undefined;
  const row = await tx.handle.findUnique({ where: { handle: handle.toLowerCase() } });
  const select = { id: true, fullName: true, website: true, avatarId: true, createdAt: true } as const;
  if (row?.userId) {
    const user = await tx.user.findUnique({
      where: { id: row.userId, disabledAt: null },
      select: { ...select, username: true },
    });
    return user ? toOwner("user", user.username, user) : undefined;
  }
  if (row?.orgId) {
    const org = await tx.organization.findUnique({ where: { id: row.orgId }, select: { ...select, name: true } });
    return org ? toOwner("organization", org.name, org) : undefined;
  }
  return undefined;
}

function toOwner(kind: Owner["kind"], handle: string, row: Omit<Owner, "kind" | "handle">): Owner {
  const { id, fullName, website, avatarId, createdAt } = row;
  return { kind, id, handle, fullName, website, avatarId, createdAt };
}
