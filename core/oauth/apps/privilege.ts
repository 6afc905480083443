/** What an operator may allow an app beyond other apps (docs/specification/oauth.md#oauth-apps). */
export const appPrivileges = ["token-exchange"] as const;
export type AppPrivilege = (typeof appPrivileges)[number];

export const TOKEN_EXCHANGE: AppPrivilege = "token-exchange";
