import { env } from "#core/env.ts";
import type { Made } from "./notes.ts";
import { type Ports, sampleSiteUrl } from "./samples.ts";

/** The settings of examples/sign-in-site, as its README lists them. */
export function sampleSitesEnvironment(ports: Ports, { apps, organizations }: Made): Record<string, string> {
  const serverSide = apps[sampleSiteUrl(ports.serverSide)];
  const inBrowser = apps[sampleSiteUrl(ports.inBrowser)];
  return {
    ISSUER: env().ORIGIN,
    ISSUER_NAME: env().BRAND_NAME,
    SERVER_SITE_PORT: String(ports.serverSide),
    SERVER_SITE_CLIENT_ID: serverSide?.clientId ?? "",
    SERVER_SITE_CLIENT_SECRET: serverSide?.clientSecret ?? "",
    BROWSER_SITE_PORT: String(ports.inBrowser),
    BROWSER_SITE_CLIENT_ID: inBrowser?.clientId ?? "",
    KNOWN_ORGANIZATIONS: JSON.stringify(Object.values(organizations).map(({ id, fullName }) => ({ id, name: fullName }))),
  };
}

/** The settings of examples/metadata-document-site: where the service is, and nothing that the service has told it. */
export function documentSiteEnvironment(
  { byDocument }: Pick<Ports, "byDocument">,
  certificateDirectory: string,
): Record<string, string> {
  const { ORIGIN, BRAND_NAME, VENDOR } = env();
  return {
    ISSUER: ORIGIN,
    ISSUER_NAME: BRAND_NAME,
    PROVIDER_PATH: VENDOR,
    SITE_PORT: String(byDocument),
    CERTIFICATE_DIR: certificateDirectory,
  };
}
