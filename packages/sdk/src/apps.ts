import { z } from "zod";
import { scopes } from "./scopes.ts";

/** The security requirements for an app: only the app's own settings, or the FAPI 2.0 Security Profile. @group OAuth apps */
export const securityProfiles = ["standard", "fapi2"] as const;
export type SecurityProfile = (typeof securityProfiles)[number];

/** An OAuth app as the API returns it, without its secret. Times are ISO 8601 in UTC. @group OAuth apps */
export const oauthAppSchema = z.object({
  id: z.string(),
  clientId: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  homepageUrl: z.string().nullable(),
  logoUrl: z.string().nullable(),
  redirectUris: z.array(z.string()),
  postLogoutRedirectUris: z.array(z.string()),
  scopes: z.array(z.enum(scopes)),
  /** Whether the app authenticates, by a secret or by keys. Otherwise the app is public. */
  isConfidential: z.boolean(),
  isPkceRequired: z.boolean(),
  isRefreshAllowed: z.boolean(),
  isDeviceFlowAllowed: z.boolean(),
  isParRequired: z.boolean(),
  isDpopRequired: z.boolean(),
  isRefreshRotated: z.boolean(),
  securityProfile: z.enum(securityProfiles),
  backchannelLogoutUri: z.string().nullable(),
  isVerified: z.boolean(),
  isBlocked: z.boolean(),
  owner: z.object({ name: z.string(), type: z.enum(["user", "org"]) }).nullable(),
  /** The organization whose administrators decide about the app's secret and scopes, for token exchange. */
  boundOrganization: z.string().nullable(),
  /** The current secret first, then earlier secrets that still work after a rotation. */
  secrets: z.array(
    z.object({
      last4: z.string(),
      createdAt: z.string(),
      lastUsedAt: z.string().nullable(),
      expiresAt: z.string().nullable(),
    }),
  ),
  userCount: z.int().nonnegative(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type OAuthAppRecord = z.infer<typeof oauthAppSchema>;

/** An app in a list, without facts about its secrets, its owner and its bound organization. @group OAuth apps */
export const listedOAuthAppSchema = oauthAppSchema.omit({ secrets: true, owner: true, boundOrganization: true });
export type ListedOAuthApp = z.infer<typeof listedOAuthAppSchema>;

const uris = z.array(z.string().max(2_000)).max(100);

const appSettings = {
  name: z.string().max(200),
  description: z.string().max(2_000).nullish(),
  homepageUrl: z.string().max(2_000).nullish(),
  redirectUris: uris,
  postLogoutRedirectUris: uris,
  scopes: z.array(z.string().max(100)).max(50),
  isPkceRequired: z.boolean(),
  isRefreshAllowed: z.boolean(),
  isDeviceFlowAllowed: z.boolean(),
  isParRequired: z.boolean(),
  isDpopRequired: z.boolean(),
  /** Whether each refresh replaces the refresh token. Always true for a public app whose token is not bound to a key. */
  isRefreshRotated: z.boolean(),
  /** `fapi2` needs keys, and turns on PKCE, pushed requests and proof of possession. */
  securityProfile: z.enum(securityProfiles),
  backchannelLogoutUri: z.string().max(2_000).nullish(),
};

/** Changes of an app. Absent fields keep their values. @group OAuth apps */
export const oauthAppChangesSchema = z.object(appSettings).partial();
export type OAuthAppChanges = z.input<typeof oauthAppChangesSchema>;

export const newOAuthAppSchema = oauthAppChangesSchema.extend({
  name: appSettings.name,
  redirectUris: uris.default([]),
  /** The default is `openid` and `profile`. */
  scopes: appSettings.scopes.default(["openid", "profile"]),
  /** Whether the app gets a secret. Only the response to this request contains the secret. */
  isConfidential: z.boolean().default(false),
  /** Whether an organization's app is bound to the organization from the start, for token exchange. */
  isBound: z.boolean().default(false),
});
export type NewOAuthApp = z.input<typeof newOAuthAppSchema>;

export const rotateAppSecretSchema = z.object({
  /** How long the previous secret still works. */
  overlapSeconds: z.int().min(0).max(604_800).optional(),
});
