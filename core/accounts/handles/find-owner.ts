import { type Db, db, pool } from "#core/db.ts";

export type Owner = {
  kind: "user" | "organization";
  id: string;
  handle: string;
  fullName: string;
  website: string | null;
  avatarId: string | null;
  createdAt: Date;
};

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

/** No foreign key locks an owner, who is in one of two tables. Returns false if the owner was deleted or disabled meanwhile. */
export async function lockOwner(tx: Db, { kind, id }: { kind: string; id: string | null }): Promise<boolean> {
  const live =
    kind === "organization"
      ? await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${id} FOR KEY SHARE`
      : await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${id} AND disabled_at IS NULL FOR KEY SHARE`;
  return live.length > 0;
}

const RESULTS_MAX = 20;
const HANDLE_MAX_CHARACTERS = 100;

/** The range condition uses the index under any collation. `starts_with` is the exact condition. */
export async function searchHandles(
  prefix: string,
  { kind, limit = RESULTS_MAX }: { kind?: Owner["kind"]; limit?: number } = {},
): Promise<Pick<Owner, "kind" | "handle" | "fullName">[]> {
  const text = prefix.toLowerCase();
  if (text === "" || text.length > HANDLE_MAX_CHARACTERS || text.includes("\0")) return [];
  const { rows } = await pool().query<Pick<Owner, "kind" | "handle" | "fullName">>({
    name: "search-handles",
    text: `SELECT CASE WHEN h.user_id IS NULL THEN 'organization' ELSE 'user' END AS kind,
             coalesce(u.username, o.name) AS handle, coalesce(u.full_name, o.full_name) AS "fullName"
           FROM handle h
           LEFT JOIN "user" u ON u.id = h.user_id AND u.disabled_at IS NULL
           LEFT JOIN organization o ON o.id = h.org_id
           WHERE h.handle >= $1 AND h.handle <= $1 || repeat('z', ${HANDLE_MAX_CHARACTERS}) AND starts_with(h.handle, $1)
             AND coalesce(u.id, o.id) IS NOT NULL
             AND ($2::text IS NULL OR (h.user_id IS NULL) = ($2 = 'organization'))
           ORDER BY h.handle LIMIT $3`,
    values: [text, kind ?? null, Math.min(limit, RESULTS_MAX)],
  });
  return rows;
}
