import { scopes as allScopes, isScope, type Scope } from "@keyhook/sdk";
import { displayText } from "../../accounts/display-text.ts";
import { parseWebsite } from "../../accounts/parse-website.ts";
import { ServiceError } from "../../errors.ts";
import { parseAppName } from "./app-name.ts";
import { parseBackchannelLogoutUri } from "./backchannel-logout-uri.ts";
import { parseRedirectUris } from "./redirect-uri.ts";

/** What an app's owner decides about it. */
export type AppSettings = {
  name: string;
  description: string | null;
  homepageUrl: string | null;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  scopes: Scope[];
  /** May be off only if the app has a secret or keys: without them, only PKCE ties a code to its app (S8). */
  isPkceRequired: boolean;
  /** Whether the app gets refresh tokens without asking for `offline_access`. */
  isRefreshAllowed: boolean;
  isDeviceFlowAllowed: boolean;
  /** Only pushed authorization requests are accepted (RFC 9126 §6). */
  isParRequired: boolean;
  /** Only bound tokens are issued, for a key that the app proves to hold (RFC 9449 §5.2). */
  isDpopRequired: boolean;
  /** Notified when a user's session here ends (OpenID Connect Back-Channel Logout). */
  backchannelLogoutUri: string | null;
};

/** The same before it is checked: text as typed, scopes as named. */
export type AppSettingsInput = Omit<AppSettings, "scopes"> & { scopes: readonly string[] };

/** The checked settings of the input; what was optional stays optional. */
type Parsed<Input> = { [Field in keyof Input]: Field extends keyof AppSettings ? AppSettings[Field] : never };

const DESCRIPTION_MAX_CHARACTERS = 300;

/** Checks and normalizes the settings that are present; throws `invalid_request` with the field and what to do. */
export function parseAppSettings<Input extends Partial<AppSettingsInput>>(input: Input): Parsed<Input> {
  const settings: Partial<AppSettings> = {};
  if (input.name !== undefined) settings.name = parseAppName(input.name);
  if (input.description !== undefined) settings.description = parseDescription(input.description);
  if (input.homepageUrl !== undefined) settings.homepageUrl = parseWebsite(input.homepageUrl ?? "", "homepageUrl");
  if (input.redirectUris !== undefined) settings.redirectUris = parseRedirectUris(input.redirectUris, "redirectUris");
  if (input.postLogoutRedirectUris !== undefined) {
    settings.postLogoutRedirectUris = parseRedirectUris(input.postLogoutRedirectUris, "postLogoutRedirectUris");
  }
  if (input.scopes !== undefined) settings.scopes = parseScopes(input.scopes);
  if (input.isPkceRequired !== undefined) settings.isPkceRequired = input.isPkceRequired;
  if (input.isRefreshAllowed !== undefined) settings.isRefreshAllowed = input.isRefreshAllowed;
  if (input.isDeviceFlowAllowed !== undefined) settings.isDeviceFlowAllowed = input.isDeviceFlowAllowed;
  if (input.isParRequired !== undefined) settings.isParRequired = input.isParRequired;
  if (input.isDpopRequired !== undefined) settings.isDpopRequired = input.isDpopRequired;
  if (input.backchannelLogoutUri !== undefined) {
    settings.backchannelLogoutUri = input.backchannelLogoutUri ? parseBackchannelLogoutUri(input.backchannelLogoutUri) : null;
  }
  return settings as Parsed<Input>;
}

/** Checks the rules between settings, once all of them are known. */
export function assertConsistent(
  settings: Pick<AppSettings, "redirectUris" | "isDeviceFlowAllowed" | "isPkceRequired">,
  { isConfidential, isBound }: { isConfidential: boolean; isBound: boolean },
): void {
  // A bound app may do nothing but exchange tokens.
  if (settings.redirectUris.length === 0 && !settings.isDeviceFlowAllowed && !isBound) {
    throw new ServiceError("invalid_request", "Enter at least one redirect URI, or allow the device flow, which needs none.", {
      field: "redirectUris",
    });
  }
  if (!settings.isPkceRequired && !isConfidential) {
    throw new ServiceError("invalid_request", "Keep PKCE on: only an app with a secret or keys can do without it.", {
      field: "isPkceRequired",
    });
  }
}

function parseDescription(text: string | null): string | null {
  return displayText("description", text ?? "", { maxCharacters: DESCRIPTION_MAX_CHARACTERS, isRequired: false }) || null;
}

function parseScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !isScope(name));
  if (unknown !== undefined) {
    const named = unknown.replace(/[^\x21-\x7e]/g, "").slice(0, 40);
    throw new ServiceError("invalid_request", `There is no scope ${named}. Choose from: ${allScopes.join(", ")}.`, {
      field: "scopes",
    });
  }
  // In the catalogue's order, so that the same choice is always stored the same way.
  const chosen = allScopes.filter((scope) => names.includes(scope));
  if (chosen.length === 0) throw new ServiceError("invalid_request", "Choose at least one scope.", { field: "scopes" });
  return chosen;
}
