export * from "./redirect-uri.ts";
export * from "./roles.ts";
export * from "./scopes.ts";
export * from "./whoami.ts";
