import type { Db } from "../../db.ts";
import { notFound } from "../../errors.ts";

/**
 * Holds an owner for as long as something is put under their name: their deletion waits for it, and finds it. No foreign key says
 * so, since an owner is a user or an organization.
 * @throws ServiceError `not_found` for one who was deleted or disabled meanwhile
 */
export async function lockOwner(tx: Db, { kind, id }: { kind: "user" | "organization"; id: string }): Promise<void> {
  const live =
    kind === "user"
      ? await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${id} AND disabled_at IS NULL FOR KEY SHARE`
      : await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${id} FOR KEY SHARE`;
  if (live.length === 0) throw notFound("Owner");
}
