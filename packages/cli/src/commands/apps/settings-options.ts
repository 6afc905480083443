import type { OAuthAppChanges } from "@keyhook/sdk";
import type { Command } from "commander";
import { many } from "../../options.ts";
import type { OrganizationOption } from "../organization-option.ts";

export type SettingsOptions = OrganizationOption & {
  name?: string;
  description?: string;
  homepage?: string;
  redirectUri?: string[];
  logoutUri?: string[];
  scope?: string[];
  device?: boolean;
  refresh?: boolean;
};

/** What of an app is set by hand; the rest is on its page. */
export function withSettings(command: Command): Command {
  return command
    .option("--description <text>", "what people read of it")
    .option("--homepage <url>", "its own site")
    .option("--redirect-uri <uri>", "where people come back to; repeatable", many)
    .option("--logout-uri <uri>", "where they come back to after signing out; repeatable", many)
    .option("--scope <scope>", "what it may ask for; repeatable", many)
    .option("--device", "let devices sign in, by a code")
    .option("--no-device", "let none")
    .option("--refresh", "let it stay signed in")
    .option("--no-refresh", "let it not");
}

export function settingsOf({
  name,
  description,
  homepage,
  redirectUri,
  logoutUri,
  scope,
  device,
  refresh,
}: SettingsOptions): OAuthAppChanges {
  const settings = {
    name,
    description,
    homepageUrl: homepage,
    redirectUris: redirectUri,
    postLogoutRedirectUris: logoutUri,
    scopes: scope,
    isDeviceFlowAllowed: device,
    isRefreshAllowed: refresh,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
