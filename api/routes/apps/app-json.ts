import type { ListedOAuthApp, OAuthAppRecord, Scope } from "@keyhook/sdk";
import { env } from "#core/env.ts";
import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import type { ListedApp } from "#core/oauth/apps/list-apps.ts";

/** An app in a list, as the API returns it. */
export function listedAppJson({ userCount, ...app }: ListedApp): ListedOAuthApp {
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
    backchannelLogoutUri: app.backchannelLogoutUri,
    isVerified: app.verifiedAt !== null,
    isBlocked: app.blockedAt !== null,
    userCount,
    createdAt: app.createdAt.toISOString(),
    updatedAt: app.updatedAt.toISOString(),
  };
}

/** One app with what its managers may see. */
export function appJson(details: AppDetails): OAuthAppRecord {
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
