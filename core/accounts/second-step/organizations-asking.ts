import { type Db, db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";

export type AskingOrganization = { id: string; name: string; fullName: string };

/** The organizations of a user that require a second step: without one they are closed to the user. */
export async function organizationsAskingForSecondStep(userId: string, tx: Db = db()): Promise<AskingOrganization[]> {
  return tx.organization.findMany({
    where: { requiresSecondStep: true, memberships: { some: { userId } } },
    orderBy: { name: "asc" },
    select: { id: true, name: true, fullName: true },
  });
}

/**
 * Refuses to remove the last second step of a user who was not told which organizations that closes to them: one may have
 * introduced the rule since they looked.
 * @throws ServiceError `conflict`
 */
export function requireKnownClosing(asking: readonly AskingOrganization[], told: readonly string[]): void {
  const untold = asking.filter(({ id }) => !told.includes(id)).map(({ name }) => name);
  if (untold.length === 0) return;
  throw new ServiceError(
    "conflict",
    `Without a second step you no longer reach ${untold.join(", ")}, which ${untold.length === 1 ? "asks" : "ask"} for one. Look at this page again, and confirm it there.`,
  );
}
