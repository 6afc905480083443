import { unseal } from "../../crypto/seal.ts";
import { db } from "../../db.ts";

/** The purpose under which the values of variables are sealed, secret or not. */
export const SPACE_VARIABLE = "space variable";

/** The variables of a Space as its app sees them, and the values that its log must not show (S134). */
export async function readSpaceEnvironment(repoId: string): Promise<{ environment: Record<string, string>; secrets: string[] }> {
  const rows = await db().spaceVariable.findMany({ where: { repoId }, orderBy: { name: "asc" } });
  const opened = rows.map(({ name, isSecret, value }) => ({ name, isSecret, value: unseal(SPACE_VARIABLE, value) }));
  return {
    environment: Object.fromEntries(opened.map(({ name, value }) => [name, value])),
    secrets: opened.filter(({ isSecret }) => isSecret).map(({ value }) => value),
  };
}
