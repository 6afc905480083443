import { type Db, db } from "../../db.ts";
import { type Author, ghost } from "./discussion.ts";

/** Returns the author for an id; the ghost for a deleted account and for null. */
export type Authors = (id: string | null) => Author;

/** The people behind these ids, in one query. */
export async function readAuthors(ids: readonly (string | null)[], tx: Db = db()): Promise<Authors> {
  const wanted = [...new Set(ids.filter((id): id is string => id !== null))];
  const users =
    wanted.length === 0
      ? []
      : await tx.user.findMany({ where: { id: { in: wanted } }, select: { id: true, username: true, fullName: true } });
  const byId = new Map(users.map(({ id, username, fullName }) => [id, { name: username, fullName, isGhost: false }]));
  return (id) => (id && byId.get(id)) || ghost;
}
