import type { Db } from "../db.ts";
import type { RunOwner } from "./runs/run.ts";

/**
 * Locks an owner while something is created under their name: a deletion of the owner waits for it, and finds it. @returns false if the
 * owner is gone or disabled
 */
export async function lockRunOwner(tx: Db, { kind, id }: RunOwner): Promise<boolean> {
  const live =
    kind === "user"
      ? await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${id} AND disabled_at IS NULL FOR KEY SHARE`
      : await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${id} FOR KEY SHARE`;
  return live.length > 0;
}
