import type { RepoType, Whoami, WhoamiJob } from "@keyhook/sdk";
import { avatarUrl } from "#core/accounts/avatar.ts";
import { isPresetName } from "#core/accounts/publishers/presets.ts";
import { publisherName } from "#core/accounts/publishers/publisher.ts";
import type { Bearer, CiJob } from "./find-bearer.ts";

/** See docs/specification/organizations-and-tokens.md#whoami-v2. */
export function whoami({ kind, account, scopes, expiresAt, issuedAt, clientId, tokenName }: Bearer): Whoami {
  const has = (scope: (typeof scopes)[number]) => kind === "personal" || scopes.includes(scope);
  const isWriter = scopes.some((scope) => scope === "write-repos" || scope === "manage-repos");
  return {
    type: "user",
    id: account.id,
    name: account.username,
    fullname: account.fullName,
    ...(has("email") && { email: account.email, emailVerified: account.isEmailVerified }),
    ...(has("read-billing") && { canPay: false, billingMode: "prepaid" as const }),
    periodEnd: null,
    isPro: false,
    avatarUrl: avatarUrl(account.username),
    orgs: account.organizations.map((organization) => ({
      type: "org",
      id: organization.id,
      name: organization.name,
      fullname: organization.fullName,
      email: null,
      ...(has("read-billing") && organization.restrictions.length === 0 && { canPay: false }),
      periodEnd: null,
      isEnterprise: organization.plan === "enterprise",
      ...(organization.plan && { plan: organization.plan }),
      avatarUrl: avatarUrl(organization.name),
      roleInOrg: organization.role,
      securityRestrictions: organization.restrictions,
      resourceGroups: [],
    })),
    auth: {
      type: kind === "oauth" ? "oauth" : "access_token",
      // The command-line client names the stored token after `displayName`
      // (docs/specification/organizations-and-tokens.md#whoami-v2).
      ...(kind === "personal" && {
        accessToken: {
          displayName: tokenName ?? "",
          role: isWriter ? "write" : "read",
          createdAt: new Date(issuedAt * 1000).toISOString(),
        },
      }),
      ...(clientId && { clientId }),
      ...(expiresAt && { expiresAt: new Date(expiresAt * 1000).toISOString() }),
    },
  };
}

export function whoamiJob({ publisherId, preset, repo, expiresAt }: CiJob): WhoamiJob {
  const [owner = ""] = repo.fullName.split("/");
  return {
    type: "publisher",
    id: publisherId,
    name: repo.fullName,
    fullname: publisherName(isPresetName(preset) ? preset : "oidc"),
    periodEnd: null,
    isPro: false,
    avatarUrl: avatarUrl(owner),
    orgs: [],
    auth: {
      type: "ci_token",
      resource: { sub: repo.id, type: repo.type as RepoType, name: repo.fullName },
      expiresAt: expiresAt.toISOString(),
    },
  };
}
