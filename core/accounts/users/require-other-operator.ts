import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";

/**
 * Ensures that the service keeps an operator who can sign in. The operators' rows are locked in one order, so that two who
 * disable each other at the same time do not both succeed.
 * @throws ServiceError `conflict` if `userId` is the last one
 */
export async function requireOtherOperator(tx: Db, userId: string): Promise<void> {
  const operators = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM "user" WHERE is_operator AND disabled_at IS NULL ORDER BY id FOR NO KEY UPDATE`;
  if (operators.length === 1 && operators[0]?.id === userId) {
    throw new ServiceError("conflict", "This is the last operator. Make another user an operator first.");
  }
}
