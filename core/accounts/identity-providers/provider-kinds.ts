/**
 * `oidc`: any issuer with discovery (OpenID Connect Discovery 1.0); `google`: the same with known values; `github`: plain OAuth
 * 2 and an API.
 */
export const providerKinds = ["oidc", "google", "github"] as const;
export type ProviderKind = (typeof providerKinds)[number];

type KindDefaults = {
  name: string;
  /** Undefined if it must be given. */
  issuer?: string;
  scopes: readonly string[];
  /**
   * Whether it can reauthenticate a user on request and says when it did (`max_age`, `auth_time`; OpenID Connect Core
   * §3.1.2.1). The two that cannot only let users choose the account again.
   */
  provesAnew: boolean;
};

export const kindDefaults: Record<ProviderKind, KindDefaults> = {
  oidc: { name: "", scopes: ["openid", "email", "profile"], provesAnew: true },
  google: {
    name: "Google",
    issuer: "https://accounts.google.com",
    scopes: ["openid", "email", "profile"],
    provesAnew: false,
  },
  github: { name: "GitHub", issuer: "https://github.com", scopes: ["read:user", "user:email"], provesAnew: false },
};
