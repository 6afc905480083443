import { type Db, db } from "../../db.ts";
import type { Repo } from "../repos/repo.ts";

/** How many discussions and pull requests of a repository are open, including drafts. It checks no permissions. */
export async function countOpenDiscussions({ id }: Pick<Repo, "id">, tx: Db = db()): Promise<number> {
  return tx.discussion.count({ where: { repoId: id, status: { in: ["open", "draft"] } } });
}
