import { db } from "../../db.ts";
import type { Repo } from "../repos/repo.ts";
import { type AccessRequestStatus, accessRequestStatuses } from "./access-request.ts";

/** How many access requests a repository has per status. It checks no permissions. */
export async function countAccessRequests({ id }: Pick<Repo, "id">): Promise<Record<AccessRequestStatus, number>> {
  const groups = await db().accessRequest.groupBy({ by: ["status"], where: { repoId: id }, _count: true });
  const count = (status: AccessRequestStatus) => groups.find((group) => group.status === status)?._count ?? 0;
  return Object.fromEntries(accessRequestStatuses.map((status) => [status, count(status)])) as Record<
    AccessRequestStatus,
    number
  >;
}
