/** README.md lists the variables. */
export type Settings = {
  /** For example `https://keyhook.example.com`. */
  issuer: URL;
  issuerName: string;
  knownOrganizations: { id: string; name: string }[];
  serverSide?: { port: number; clientId: string; clientSecret: string };
  inBrowser?: { port: number; clientId: string };
};

export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const issuer = new URL(environment.ISSUER ?? "http://localhost:3000");
  if (issuer.protocol !== "https:" && !isLoopback(issuer)) {
    throw new Error(
      `ISSUER is ${issuer.origin}: plain http is for loopback addresses only, since tokens would travel unencrypted.`,
    );
  }
  const { SERVER_SITE_CLIENT_ID, SERVER_SITE_CLIENT_SECRET, BROWSER_SITE_CLIENT_ID } = environment;
  return {
    issuer,
    issuerName: environment.ISSUER_NAME ?? "Keyhook",
    knownOrganizations: JSON.parse(environment.KNOWN_ORGANIZATIONS ?? "[]"),
    ...(SERVER_SITE_CLIENT_ID &&
      SERVER_SITE_CLIENT_SECRET && {
        serverSide: {
          port: Number(environment.SERVER_SITE_PORT ?? 3001),
          clientId: SERVER_SITE_CLIENT_ID,
          clientSecret: SERVER_SITE_CLIENT_SECRET,
        },
      }),
    ...(BROWSER_SITE_CLIENT_ID && {
      inBrowser: { port: Number(environment.BROWSER_SITE_PORT ?? 3002), clientId: BROWSER_SITE_CLIENT_ID },
    }),
  };
}

/** Plain http is acceptable if it never leaves this machine. */
export function isLoopback(url: URL): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
}
