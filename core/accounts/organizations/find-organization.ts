import { db } from "../../db.ts";
import { isId } from "../../ids.ts";
import type { OrganizationPlan } from "./plans.ts";

export type Organization = {
  id: string;
  /** The handle, as spelled. */
  name: string;
  fullName: string;
  email: string | null;
  website: string | null;
  plan: OrganizationPlan | null;
  avatarId: string | null;
  createdAt: Date;
};

export const organizationColumns = {
  id: true,
  name: true,
  fullName: true,
  email: true,
  website: true,
  plan: true,
  avatarId: true,
  createdAt: true,
} as const;

export async function findOrganization(id: string): Promise<Organization | undefined> {
  if (!isId(id)) return undefined;
  const row = await db().organization.findUnique({ where: { id }, select: organizationColumns });
  return (row ?? undefined) as Organization | undefined;
}

/** By handle, in any spelling. */
export async function findOrganizationByName(name: string): Promise<Organization | undefined> {
  if (typeof name !== "string" || name.includes("\0")) return undefined;
  const row = await db().handle.findUnique({ where: { handle: name.toLowerCase() }, select: { orgId: true } });
  return row?.orgId ? findOrganization(row.orgId) : undefined;
}
