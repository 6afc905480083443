import {
  scopes as allScopes,
  explainRedirectUris,
  isRedirectUriAllowed as isAllowed,
  isOwnHost,
  isScope,
  type Scope,
  type SecurityProfile,
} from "@keyhook/sdk";
import { hasLongHost } from "#core/http/has-long-host.ts";
import { parseWebsite } from "../../accounts/parse-website.ts";
import { displayText, plainText } from "../../accounts/plain-text.ts";
import { env } from "../../env.ts";
import { checkAll, invalidRequest } from "../../errors.ts";
import { isLoopbackHost } from "../clients/client-identity.ts";
import { parseAppName } from "./app-name.ts";
import { FAPI_REQUIREMENTS } from "./fapi-profile.ts";

export type AppSettings = {
  name: string;
  description: string | null;
  homepageUrl: string | null;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  scopes: Scope[];
  /** If an app has no secret or keys, only PKCE ties a code to the app (S8). */
  isPkceRequired: boolean;
  isRefreshAllowed: boolean;
  isDeviceFlowAllowed: boolean;
  /** RFC 9126 §6. */
  isParRequired: boolean;
  /** RFC 9449 §5.2. */
  isDpopRequired: boolean;
  /** Rotation is on even where RFC 9700 §4.14.2 does not require it. */
  isRefreshRotated: boolean;
  securityProfile: SecurityProfile;
  backchannelLogoutUri: string | null;
};

export type AppSettingsInput = Omit<AppSettings, "scopes"> & { scopes: readonly string[] };

type Parsed<Input> = { [Field in keyof Input]: Field extends keyof AppSettings ? AppSettings[Field] : never };

const DESCRIPTION_MAX_CHARACTERS = 300;

const same = <Value>(value: Value): Value => value;

const parsers: { [Field in keyof AppSettings]: (value: AppSettingsInput[Field]) => AppSettings[Field] } = {
  name: parseAppName,
  description: (text) =>
    displayText("description", text ?? "", { maxCharacters: DESCRIPTION_MAX_CHARACTERS, isRequired: false }) || null,
  homepageUrl: (url) => parseWebsite(url ?? "", "homepageUrl"),
  redirectUris: (uris) => parseRedirectUris(uris, "redirectUris"),
  postLogoutRedirectUris: (uris) => parseRedirectUris(uris, "postLogoutRedirectUris"),
  scopes: parseScopes,
  isPkceRequired: same,
  isRefreshAllowed: same,
  isDeviceFlowAllowed: same,
  isParRequired: same,
  isDpopRequired: same,
  isRefreshRotated: same,
  securityProfile: same,
  backchannelLogoutUri: (uri) => (uri ? parseServerAddress(uri, "backchannelLogoutUri") : null),
};

export async function parseAppSettings<Input extends Partial<AppSettingsInput>>(input: Input): Promise<Parsed<Input>> {
  const complete: Partial<AppSettingsInput> = input.securityProfile === "fapi2" ? { ...FAPI_REQUIREMENTS, ...input } : input;
  const checks = Object.entries(parsers).flatMap(([field, parse]) => {
    const value = complete[field as keyof AppSettings];
    return value === undefined ? [] : [[field, () => (parse as (value: unknown) => unknown)(value)]];
  });
  return (await checkAll(Object.fromEntries(checks))) as Parsed<Input>;
}

export function assertConsistent(
  settings: Pick<AppSettings, "redirectUris" | "isDeviceFlowAllowed" | "isPkceRequired">,
  { isConfidential, isBound }: { isConfidential: boolean; isBound: boolean },
): void {
  if (settings.redirectUris.length === 0 && !settings.isDeviceFlowAllowed && !isBound) {
    throw invalidRequest("Enter at least one redirect URI, or allow the device flow, which needs none.", "redirectUris");
  }
  if (!settings.isPkceRequired && !isConfidential) {
    throw invalidRequest("Keep PKCE enabled: only an app with a secret or keys can work without it.", "isPkceRequired");
  }
}

function parseScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !isScope(name));
  if (unknown !== undefined) {
    const named = unknown.replace(/[^\x21-\x7e]/g, "").slice(0, 40);
    throw invalidRequest(`The scope ${named} does not exist. Choose from: ${allScopes.join(", ")}.`, "scopes");
  }
  // In the catalog's order, the same choice is always stored as the same text.
  const chosen = allScopes.filter((scope) => names.includes(scope));
  if (chosen.length === 0) throw invalidRequest("Choose at least one scope.", "scopes");
  return chosen;
}

export function parseRedirectUris(uris: readonly string[], field: "redirectUris" | "postLogoutRedirectUris"): string[] {
  const unique = [...new Set(uris)];
  const problem = explainRedirectUris(unique, { ownOrigin: env().ORIGIN });
  if (problem) throw invalidRequest(problem, field);
  return unique;
}

/** The rule is in `@keyhook/sdk` (S2, S4, S5, S20). */
export function isRedirectUriAllowed(registered: readonly string[], requested: string): boolean {
  return isAllowed(registered, requested, { ownOrigin: env().ORIGIN });
}

const MAX_CHARACTERS = 2000;

/** Does not look the host up, because each request checks whether its address is allowed (S77). */
export function parseServerAddress(value: string, field: "jwksUri" | "backchannelLogoutUri"): string {
  const refuse = (sentence: string) => invalidRequest(sentence, field);
  const text = plainText(field, value, MAX_CHARACTERS).trim();
  const url = hasLongHost(text) ? null : URL.parse(text);
  if (!url || !isAllowedScheme(url) || /\s/.test(text)) throw refuse("Enter a URL that begins with https://.");
  if (url.username || url.password) throw refuse("Remove the username and password from the URL.");
  if (text.includes("#")) throw refuse("Remove the # and what follows: it is never sent to a server.");
  if (isOwnHost(url, env().ORIGIN)) throw refuse("This is a URL of this service. Enter a URL of your app's server.");
  return url.href;
}

function isAllowedScheme({ protocol, hostname }: URL): boolean {
  if (protocol === "https:") return hostname !== "";
  return protocol === "http:" && isLoopbackHost(hostname) && isLoopbackHost(new URL(env().ORIGIN).hostname);
}
