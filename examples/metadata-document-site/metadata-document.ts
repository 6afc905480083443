import type { Settings } from "./settings.ts";

/** The full URL of this path is the site's client ID. */
export const DOCUMENT_PATH = "/.well-known/oauth-cimd";

type Site = Pick<Settings, "websiteUrl" | "providerPath" | "siteName">;

export function clientId({ websiteUrl }: Pick<Site, "websiteUrl">): string {
  return `${websiteUrl}${DOCUMENT_PATH}`;
}

export function redirectUri({ websiteUrl, providerPath }: Omit<Site, "siteName">): string {
  return `${websiteUrl}/oauth/callback/${providerPath}`;
}

/** An OAuth Client ID Metadata Document. There is no secret: PKCE ties each sign-in to the site that started the sign-in. */
export function metadataDocument(site: Site) {
  return {
    // The issuer refuses a document that does not name its own URL here.
    client_id: clientId(site),
    client_name: site.siteName,
    client_uri: site.websiteUrl,
    logo_uri: `${site.websiteUrl}/assets/logo.png`,
    redirect_uris: [redirectUri(site)],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code"],
    response_types: ["code"],
  };
}
