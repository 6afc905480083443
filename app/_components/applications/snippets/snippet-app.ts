/** What a snippet is filled with, so that it runs as it is copied. */
export type SnippetApp = Readonly<{
  issuer: string;
  clientId: string;
  hasSecret: boolean;
  /** Set for an app that proves itself with keys: what they sign with, and the name of the first. */
  key?: Readonly<{ algorithm: string; kid: string | null }>;
  isParRequired?: boolean;
  isDpopRequired?: boolean;
  /** Space-separated. */
  scope: string;
  /** One that is registered. */
  redirectUri: string;
}>;

/** Whether the app needs what only the Node example shows: most libraries cannot do it yet. */
export function isStronger({ key, isParRequired, isDpopRequired }: SnippetApp): boolean {
  return key !== undefined || Boolean(isParRequired) || Boolean(isDpopRequired);
}

const SAMPLE_PORT = 8080;
const PLACEHOLDER = "https://app.example.com/oauth/callback";

/** The registered address that a program on the developer's own machine can answer, if there is one. */
export function sampleRedirectUri(redirectUris: readonly string[]): string {
  const local = redirectUris.find((uri) => uri.startsWith("http:"));
  if (!local) return redirectUris[0] ?? PLACEHOLDER;
  const url = new URL(local);
  if (url.port) return local;
  // Any port will do (RFC 8252 §7.3); the rest stays byte for byte.
  return local.replace(url.host, `${url.host}:${SAMPLE_PORT}`);
}

/** A value as a literal of JavaScript, TypeScript or Python. */
export function quoted(value: string): string {
  return JSON.stringify(value);
}
