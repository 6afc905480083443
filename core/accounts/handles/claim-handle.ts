import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import type { HandleName } from "./parse-handle.ts";

/**
 * Claims a handle for a new user or organization, in the transaction that creates it. If two want the same handle at the same
 * time, the second waits for the first's transaction and then fails.
 * @throws ServiceError `conflict`
 */
export async function claimHandle(
  tx: Db,
  { canonical, spelled }: HandleName,
  owner: { userId: string } | { orgId: string },
  field: string,
): Promise<void> {
  const { count } = await tx.handle.createMany({ data: [{ handle: canonical, ...owner }], skipDuplicates: true });
  if (count === 0) throw new ServiceError("conflict", `The name ${spelled} is taken. Choose another.`, { field });
}
