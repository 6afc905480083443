import { isDeepStrictEqual } from "node:util";
import type { Prisma } from "../generated/prisma/client.ts";

/** For a list, the result has only the items that were added and removed. */
export function changesOf<Field extends string>(
  before: Readonly<Partial<Record<Field, unknown>>>,
  after: Readonly<Partial<Record<Field, unknown>>>,
  fields: readonly Field[],
): Prisma.InputJsonObject {
  const changed = fields.filter((field) => !isDeepStrictEqual(before[field], after[field]));
  return Object.fromEntries(changed.map((field) => [field, change(before[field], after[field])])) as Prisma.InputJsonObject;
}

function change(before: unknown = null, after: unknown = null): object {
  if (!Array.isArray(before) || !Array.isArray(after)) return { before, after };
  return { added: after.filter((each) => !before.includes(each)), removed: before.filter((each) => !after.includes(each)) };
}
