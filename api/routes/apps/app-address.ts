import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { TokenHolder } from "#core/access/actor.ts";
import { notFound } from "#core/errors.ts";
import { type AppDetails, getApp } from "#core/oauth/apps/get-app.ts";
import { requirePersonsToken } from "../../actor.ts";
import { findPublicOwner } from "../people/find-public-owner.ts";

/** Base URLs of OAuth apps: the caller's own, and an organization's. */
export const appAddresses = [
  { base: "/api/settings/apps", of: "of your own" },
  { base: "/api/organizations/{name}/settings/apps", of: "of an organization" },
] as const;

export const ownerParams = z.object({
  name: z.string().optional().openapi({ description: "The organization's handle." }),
});

export const appParams = ownerParams.extend({ id: z.string().openapi({ description: "24 hex digits." }) });

/** The caller, and the owner whose apps the URL names. */
export async function callerAndOwner(
  c: Context,
  name: string | undefined,
): Promise<{ actor: TokenHolder; owner: { userId: string } | { orgId: string } }> {
  const { actor } = await requirePersonsToken(c);
  if (name === undefined) return { actor, owner: { userId: actor.userId } };
  return { actor, owner: { orgId: (await findPublicOwner(name, "organization")).id } };
}

/**
 * The caller, and the app that the URL names. If the URL names an organization, the app has to be owned by it or bound to it; otherwise the
 * app's id alone decides.
 */
export async function callerAndApp(
  c: Context,
  { id, name }: { id: string; name?: string | undefined },
): Promise<{ actor: TokenHolder; details: AppDetails }> {
  const { actor } = await requirePersonsToken(c);
  const orgId = name === undefined ? undefined : (await findPublicOwner(name, "organization")).id;
  const details = await getApp(actor, id);
  if (orgId !== undefined && ![details.app.ownerOrgId, details.app.boundOrgId].includes(orgId)) throw notFound("OAuth app");
  return { actor, details };
}
