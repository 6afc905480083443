import { invalidRequest } from "../../errors.ts";
import { displayText, plainText } from "../plain-text.ts";
import { isLocalInstallation } from "./fetch-from-provider.ts";
import {
  isOrganizationSlug,
  kindDefaults,
  type ProviderKind,
  providerKinds,
  SLUG,
  SLUG_MAX_CHARACTERS,
} from "./identity-provider.ts";

export const PROVIDER_NAME_MAX_CHARACTERS = 40;
const ISSUER_MAX_CHARACTERS = 500;
const CREDENTIAL_MAX_CHARACTERS = 1_000;
const SCOPES_MAX = 20;

// RFC 6749 §3.3
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/;
// RFC 6749 §A.1 and §A.2
const CREDENTIAL = /^[\x20-\x7e]+$/;

export function parseKind(value: unknown): ProviderKind {
  const kind = providerKinds.find((one) => one === value);
  if (!kind) throw invalidRequest(`Use one of ${providerKinds.join(", ")}.`, "kind");
  return kind;
}

export function parseSlug(value: unknown): string {
  const slug = plainText("slug", value, 1_000).trim();
  if (!SLUG.test(slug) || slug.length > SLUG_MAX_CHARACTERS) {
    throw invalidRequest(`Use up to ${SLUG_MAX_CHARACTERS} lower-case letters and digits, with single - between them.`, "slug");
  }
  // The redirect URI must be free when an organization sets up its issuer.
  if (isOrganizationSlug(slug))
    throw invalidRequest("Names that begin with org- are reserved for the issuers of organizations.", "slug");
  return slug;
}

export function parseProviderName(value: unknown, kind: ProviderKind): string {
  const text = typeof value === "string" && value.trim() !== "" ? value : kindDefaults[kind].name;
  return displayText("name", text, { maxCharacters: PROVIDER_NAME_MAX_CHARACTERS });
}

/** OpenID Connect Discovery 1.0 §3. */
export function parseIssuer(value: unknown, kind: ProviderKind): string {
  const text = plainText("issuer", value ?? "", ISSUER_MAX_CHARACTERS * 2).trim() || kindDefaults[kind].issuer || "";
  const refuse = (sentence: string) => invalidRequest(sentence, "issuer");
  const url = URL.parse(text);
  if (!url || text.length > ISSUER_MAX_CHARACTERS) throw refuse("Enter the issuer's URL, such as https://id.example.com.");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocalInstallation())) {
    throw refuse("An issuer's URL must begin with https://.");
  }
  if (url.search || url.hash || url.username || url.password || text.includes("?") || text.includes("#")) {
    throw refuse("Leave out the query, the fragment and any password.");
  }
  if (kind === "google" && text !== kindDefaults.google.issuer) throw refuse("Google's issuer is https://accounts.google.com.");
  return text;
}

export function parseClientId(value: unknown): string {
  return credential("clientId", value, "Enter the client ID that the provider gave you.");
}

export function parseClientSecret(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return credential("clientSecret", value, "Enter the client secret that the provider gave you.");
}

function credential(field: string, value: unknown, sentence: string): string {
  const text = plainText(field, value ?? "", CREDENTIAL_MAX_CHARACTERS).trim();
  if (!CREDENTIAL.test(text)) throw invalidRequest(sentence, field);
  return text;
}

export function parseProviderScopes(value: readonly string[] | undefined, kind: ProviderKind): string[] {
  if (!value || value.length === 0) return [...kindDefaults[kind].scopes];
  const scopes = [...new Set(kind === "github" ? value : ["openid", ...value])];
  if (scopes.length > SCOPES_MAX || !scopes.every((scope) => SCOPE.test(scope))) {
    throw invalidRequest(`Enter up to ${SCOPES_MAX} scopes, separated by spaces.`, "scopes");
  }
  return scopes;
}
