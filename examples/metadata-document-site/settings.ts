import { resolve } from "node:path";

/** README.md lists the variables. */
export type Settings = {
  /** For example `https://keyhook.example.com`. */
  issuer: URL;
  issuerName: string;
  /** A site with several issuers has a callback URL for each. */
  providerPath: string;
  websiteUrl: string;
  siteName: string;
  host: string;
  port: number;
  certificateDirectory: string;
};

export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const issuer = new URL(environment.ISSUER ?? "http://localhost:3000");
  if (issuer.protocol !== "https:" && !isLoopback(issuer)) {
    throw new Error(
      `ISSUER is ${issuer.origin}: plain http is for loopback addresses only, since tokens would travel unencrypted.`,
    );
  }
  const [host, port] = [siteHost(environment), Number(environment.SITE_PORT ?? 3003)];
  return {
    issuer,
    issuerName: environment.ISSUER_NAME ?? "Keyhook",
    providerPath: environment.PROVIDER_PATH ?? "keyhook",
    websiteUrl: `https://${host}:${port}`,
    siteName: environment.SITE_NAME ?? "Slate Heron",
    host,
    port,
    certificateDirectory: certificateDirectory(environment),
  };
}

// Browsers share cookies between the ports of a host. In a demo the service runs on `localhost`, so the default differs.
export function siteHost(environment: NodeJS.ProcessEnv): string {
  return environment.SITE_HOST ?? "127.0.0.1";
}

export function certificateDirectory(environment: NodeJS.ProcessEnv): string {
  return resolve(environment.CERTIFICATE_DIR ?? resolve(import.meta.dirname, "certificate"));
}

/** Plain http is acceptable if it never leaves this machine. */
export function isLoopback(url: URL): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
}
