import { z } from "zod";
import { scopes } from "./scopes.ts";

/** An OAuth app as the API gives it. Its secret is never in it. Times are ISO 8601 in UTC. */
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
  /** Whether it proves who it is, by a secret or by keys; an app that does not is public. */
  isConfidential: z.boolean(),
  isPkceRequired: z.boolean(),
  isRefreshAllowed: z.boolean(),
  isDeviceFlowAllowed: z.boolean(),
  isParRequired: z.boolean(),
  isDpopRequired: z.boolean(),
  backchannelLogoutUri: z.string().nullable(),
  isVerified: z.boolean(),
  isBlocked: z.boolean(),
  owner: z.object({ name: z.string(), type: z.enum(["user", "org"]) }).nullable(),
  /** The organization whose administrators decide about its secret and scopes, for token exchange. */
  boundOrganization: z.string().nullable(),
  /** What is known of its secrets: the current one first, then those that a rotation lets live a while longer. */
  secrets: z.array(
    z.object({
      last4: z.string(),
      createdAt: z.string(),
      lastUsedAt: z.string().nullable(),
      expiresAt: z.string().nullable(),
    }),
  ),
  /** People who allow it now. */
  userCount: z.int().nonnegative(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type OAuthAppRecord = z.infer<typeof oauthAppSchema>;

/** In a list there is less to read: secrets are told of where one app is read. */
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
  backchannelLogoutUri: z.string().max(2_000).nullish(),
};

/** What is absent stays as it is. */
export const oauthAppChangesSchema = z.object(appSettings).partial();
export type OAuthAppChanges = z.input<typeof oauthAppChangesSchema>;

export const newOAuthAppSchema = oauthAppChangesSchema.extend({
  name: appSettings.name,
  redirectUris: uris.default([]),
  /** Default: `openid` and `profile`. */
  scopes: appSettings.scopes.default(["openid", "profile"]),
  /** Whether it starts with a secret, which is in the answer, this once. */
  isConfidential: z.boolean().default(false),
  /** Of an organization's app: bound to it from the start, for token exchange. */
  isBound: z.boolean().default(false),
});
export type NewOAuthApp = z.input<typeof newOAuthAppSchema>;

export const rotateAppSecretSchema = z.object({
  /** How long the secret before goes on working: 0 to 7 days. */
  overlapSeconds: z.int().min(0).max(604_800).optional(),
});
