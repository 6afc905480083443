import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { invalidRequest } from "../../errors.ts";
import { changeOrganization } from "./change-organization.ts";

export const visibilities = ["public", "private"] as const;
type Visibility = (typeof visibilities)[number];

export async function readDefaultVisibility(actor: Actor, orgId: string): Promise<Visibility> {
  await requirePermission(actor, "organization.manage_defaults", { orgId }, { what: "Organization" });
  return (await isPrivateByDefault(orgId)) ? "private" : "public";
}

export async function setDefaultVisibility(actor: Actor, orgId: string, wanted: string, from: RequestOrigin): Promise<void> {
  const change = { orgId, action: "organization.manage_defaults", from } as const;
  await changeOrganization(actor, change, async (tx, record) => {
    if (!(visibilities as readonly string[]).includes(wanted))
      throw invalidRequest("Choose public or private.", "defaultVisibility");
    const { defaultVisibility: before } = await tx.organization.findUniqueOrThrow({
      where: { id: orgId },
      select: { defaultVisibility: true },
    });
    if (before === wanted) return;
    await tx.organization.update({ where: { id: orgId }, data: { defaultVisibility: wanted } });
    await record({ type: "organization.set_default_visibility", data: { visibility: wanted } });
  });
}

export async function isPrivateByDefault(orgId: string): Promise<boolean> {
  const organization = await db().organization.findUnique({ where: { id: orgId }, select: { defaultVisibility: true } });
  return organization?.defaultVisibility === "private";
}

/** Checks no permissions. */
export async function findPrivateByDefault(names: readonly string[]): Promise<string[]> {
  const rows = await db().organization.findMany({
    where: { name: { in: [...names] }, defaultVisibility: "private" },
    orderBy: { name: "asc" },
    select: { name: true },
  });
  return rows.map(({ name }) => name);
}
