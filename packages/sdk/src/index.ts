export * from "./redirect-uri.ts";
export * from "./repos.ts";
export * from "./roles.ts";
export * from "./scopes.ts";
export * from "./webhook-payload.ts";
export * from "./whoami.ts";
