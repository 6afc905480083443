import { unseal } from "../../crypto/seal.ts";
import { db } from "../../db.ts";
import { SPACE_VARIABLE } from "./read-space-environment.ts";

/** A variable of a Space, as shown to those who may manage it. */
export type SpaceVariable = {
  name: string;
  isSecret: boolean;
  /** Undefined for a secret: it is not shown again (S130). */
  value: string | undefined;
  description: string | null;
  updatedAt: Date;
};

/** The variables of a Space by name; their number is limited. The caller has checked that they may be managed. */
export async function listSpaceVariables(repoId: string): Promise<SpaceVariable[]> {
  const rows = await db().spaceVariable.findMany({ where: { repoId }, orderBy: { name: "asc" } });
  return rows.map(({ name, isSecret, value, description, updatedAt }) => ({
    name,
    isSecret,
    value: isSecret ? undefined : unseal(SPACE_VARIABLE, value),
    description,
    updatedAt,
  }));
}
