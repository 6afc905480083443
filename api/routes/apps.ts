import { z } from "@hono/zod-openapi";
import {
  type ListedOAuthApp,
  listedOAuthAppSchema,
  newOAuthAppSchema,
  type OAuthAppRecord,
  oauthAppChangesSchema,
  oauthAppSchema,
  rotateAppSecretSchema,
  type Scope,
  type SecurityProfile,
} from "@keyhook/sdk";
import type { TokenHolder } from "#core/access/actor.ts";
import { env } from "#core/env.ts";
import { notFound } from "#core/errors.ts";
import { addSecret, rotateSecret } from "#core/oauth/apps/app-secrets.ts";
import { createApp } from "#core/oauth/apps/create-app.ts";
import { type AppDetails, getApp } from "#core/oauth/apps/get-app.ts";
import { type ListedApp, listApps } from "#core/oauth/apps/list-apps.ts";
import { deleteApp } from "#core/oauth/apps/transfer-app.ts";
import { updateApp } from "#core/oauth/apps/update-app.ts";
import { defineRoute, failure, json } from "../define-route.ts";
import { linkNextPage, pageNumber } from "../next-page.ts";
import { findPublicOwner } from "./people.ts";

const oneApp = z.object({ app: oauthAppSchema });
/** These changes could let a stolen token take over the app, so they require a recent authentication (S113). */
const recentOnly = {
  403: failure(
    "`reauthentication_required`: this requires a token of the service's own command line that its user authorized within the last 15 minutes",
  ),
};

export const appRoutes = [
  defineRoute("GET {APPS}", {
    operationId: "listApps",
    action: "oauth_app.read",
    actor: "user",
    summary: "List OAuth apps {whose}",
    description:
      "Twenty per page, newest first. Requires a personal access token with the scope `manage-repos`, or the token of the service's own command line. Tokens of other apps are refused.",
    query: z.object({
      p: pageNumber(),
    }),
    responses: { 200: json("Apps", z.array(listedOAuthAppSchema)) },
    async handle({ c, actor, params, query: { p } }) {
      const { apps, pageCount } = await listApps(actor, await ownerOf(actor, params.name), { page: p });
      if (p < pageCount) linkNextPage(c, { p: p + 1 });
      // The list is empty after the last page, so that a program that requests page after page ends.
      return p > pageCount ? [] : apps.map(listedAppJson);
    },
  }),

  defineRoute("POST {APPS}", {
    operationId: "createApp",
    action: "oauth_app.create",
    actor: "user",
    summary: "Create an OAuth app {forWhom}",
    body: newOAuthAppSchema,
    responses: {
      200: json(
        "The app. For a confidential app, also its secret, which is never shown again",
        oneApp.extend({ secret: z.string().optional() }),
      ),
      409: failure("The owner already has the maximum number of apps"),
    },
    async handle({ actor, params, body, origin }) {
      const owner = await ownerOf(actor, params.name);
      const { description, homepageUrl, backchannelLogoutUri, ...settings } = body;
      const optional = {
        ...(description && { description }),
        ...(homepageUrl && { homepageUrl }),
        ...(backchannelLogoutUri && { backchannelLogoutUri }),
      };
      const { app, secret } = await createApp(actor, { ...settings, ...optional, owner }, origin);
      return { app: appJson(await getApp(actor, app.id)), ...(secret !== undefined && { secret }) };
    },
  }),

  defineRoute("GET {APPS}/{id}", {
    operationId: "getApp",
    action: "oauth_app.read",
    actor: "user",
    summary: "Get an OAuth app {whose}",
    responses: { 200: json("The app", oneApp) },
    handle: async ({ actor, params }) => ({ app: appJson(await findApp(actor, params)) }),
  }),

  defineRoute("POST {APPS}/{id}", {
    operationId: "updateApp",
    action: "oauth_app.manage",
    actor: "user",
    summary: "Update an OAuth app {whose}",
    description:
      "Absent fields stay unchanged. A change of redirect URIs, of the sign-out URL, of the device flow or of the security profile, or more scopes for a bound app, requires a token as described under 403.",
    body: oauthAppChangesSchema,
    responses: { 200: json("The app", oneApp), ...recentOnly },
    async handle({ actor, params, body, origin }) {
      const { app } = await findApp(actor, params);
      await updateApp(actor, app.id, withoutAbsent(body), origin);
      return { app: appJson(await getApp(actor, app.id)) };
    },
  }),

  defineRoute("POST {APPS}/{id}/rotate-secret", {
    operationId: "rotateAppSecret",
    action: "oauth_app.manage_security",
    actor: "user",
    summary: "Create or rotate the secret of an OAuth app {whose}",
    description: "With `overlapSeconds`, the previous secret stays valid for that time, at most 7 days.",
    body: rotateAppSecretSchema,
    isBodyOptional: true,
    responses: {
      200: json("The app and its secret, which is never shown again", oneApp.extend({ secret: z.string() })),
      ...recentOnly,
    },
    async handle({ actor, params, body: { overlapSeconds = 0 }, origin }) {
      const { app, secrets } = await findApp(actor, params);
      const { secret } =
        secrets.length === 0
          ? await addSecret(actor, app.id, origin)
          : await rotateSecret(actor, app.id, { overlapSeconds }, origin);
      return { app: appJson(await getApp(actor, app.id)), secret };
    },
  }),

  defineRoute("DELETE {APPS}/{id}", {
    operationId: "deleteApp",
    action: "oauth_app.manage_security",
    actor: "user",
    summary: "Delete an OAuth app {whose} and revoke all its tokens",
    responses: { 200: json("Deleted", z.object({})), ...recentOnly },
    async handle({ actor, params, origin }) {
      const { app } = await findApp(actor, params);
      await deleteApp(actor, app.id, origin);
      return {};
    },
  }),
];

async function ownerOf(actor: TokenHolder, name: string | undefined): Promise<{ userId: string } | { orgId: string }> {
  if (name === undefined) return { userId: actor.userId };
  return { orgId: (await findPublicOwner(name, "organization")).id };
}

/** An organization's URL finds only apps that the organization owns or that are bound to it. */
async function findApp(actor: TokenHolder, { id, name }: { id: string; name?: string }): Promise<AppDetails> {
  const orgId = name === undefined ? undefined : (await findPublicOwner(name, "organization")).id;
  const details = await getApp(actor, id);
  if (orgId !== undefined && ![details.app.ownerOrgId, details.app.boundOrgId].includes(orgId)) throw notFound("OAuth app");
  return details;
}

/** Null and "" remove optional fields. */
function withoutAbsent({ description, homepageUrl, backchannelLogoutUri, ...changes }: z.infer<typeof oauthAppChangesSchema>) {
  return {
    ...changes,
    ...(description !== undefined && { description: description || null }),
    ...(homepageUrl !== undefined && { homepageUrl: homepageUrl || null }),
    ...(backchannelLogoutUri !== undefined && { backchannelLogoutUri: backchannelLogoutUri || null }),
  };
}

function listedAppJson({ userCount, ...app }: ListedApp): ListedOAuthApp {
  return {
    id: app.id,
    clientId: app.clientId,
    name: app.name,
    description: app.description,
    homepageUrl: app.homepageUrl,
    logoUrl: app.logoId && `${env().ORIGIN}/images/${app.logoId}`,
    redirectUris: app.redirectUris,
    postLogoutRedirectUris: app.postLogoutRedirectUris,
    scopes: app.scopes as Scope[],
    isConfidential: app.isConfidential,
    isPkceRequired: app.isPkceRequired,
    isRefreshAllowed: app.isRefreshAllowed,
    isDeviceFlowAllowed: app.isDeviceFlowAllowed,
    isParRequired: app.isParRequired,
    isDpopRequired: app.isDpopRequired,
    isRefreshRotated: app.isRefreshRotated,
    securityProfile: app.securityProfile as SecurityProfile,
    backchannelLogoutUri: app.backchannelLogoutUri,
    isVerified: app.verifiedAt !== null,
    isBlocked: app.blockedAt !== null,
    userCount,
    createdAt: app.createdAt.toISOString(),
    updatedAt: app.updatedAt.toISOString(),
  };
}

function appJson(details: AppDetails): OAuthAppRecord {
  const { app, secrets, isConfidential, organization, boundOrganization, ownerUsername, userCount } = details;
  return {
    ...listedAppJson({ ...app, userCount }),
    isConfidential,
    owner: organization
      ? { name: organization.name, type: "org" }
      : ownerUsername === null
        ? null
        : { name: ownerUsername, type: "user" },
    boundOrganization: boundOrganization?.name ?? null,
    secrets: secrets.map(({ last4, createdAt, lastUsedAt, expiresAt }) => ({
      last4,
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
      expiresAt: expiresAt?.toISOString() ?? null,
    })),
  };
}
