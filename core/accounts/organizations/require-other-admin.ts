import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";

/**
 * An organization always has an administrator who is not disabled. Call it after `lockOrganization`, before one loses the role.
 * @throws ServiceError `conflict`
 */
export async function requireOtherAdmin(tx: Db, orgId: string, userId: string): Promise<void> {
  const other = await tx.membership.findFirst({
    where: { orgId, role: "admin", userId: { not: userId }, user: { disabledAt: null } },
    select: { userId: true },
  });
  if (!other) {
    throw new ServiceError(
      "conflict",
      "This is the organization's last administrator. Make another member an administrator first.",
    );
  }
}
