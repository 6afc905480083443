/** The values that replace a guide's placeholders when it is shown or run; the file itself is readable with its placeholders. */
export type Filling = Readonly<{
  /** The service's own origin, without a trailing slash. */
  origin: string;
  brand: string;
  /** The word in `urn:<vendor>:…`. */
  vendor: string;
  tokenPrefix: string;
  /** One of the reader's apps. */
  app?: FillingApp;
}>;

export type FillingApp = Readonly<{
  clientId: string;
  /** One of its registered redirect URIs. */
  redirectUri?: string;
  /** Space-separated. */
  scope: string;
}>;

export const PLACEHOLDER_ORIGIN = "http://localhost:3000";
const PLACEHOLDER_CLIENT_ID = "YOUR_CLIENT_ID";
const PLACEHOLDER_REDIRECT_URI = "http://localhost:8080/callback";
/** The scopes in the guides, as written in code, in a query and in a shell. */
const PLACEHOLDER_SCOPES = [" ", "+", "%20"].map((between) => ["openid", "profile", "email"].join(between));

/** The product's name as a separate word: not in `Keyhook/1.0`, the service's own user agent. */
const BRAND = /(?<![-\w@/.])Keyhook(?![-/\w])/g;
const ORIGIN = /http:\/\/localhost:3000(?!\d)|https:\/\/(?:hub|keyhook)\.example\.com(?![\w.-])/g;

/** Fills in code, an address or a command for one reader. */
export function fillInCode(code: string, { origin, brand, vendor, tokenPrefix, app }: Filling): string {
  const filled = code
    .replace(ORIGIN, () => origin)
    .replace(BRAND, () => brand)
    .replaceAll("urn:keyhook:", () => `urn:${vendor}:`)
    .replace(/\bkh_/g, () => tokenPrefix);
  if (!app) return filled;
  const { clientId, redirectUri, scope } = app;
  let withApp = filled.replaceAll(PLACEHOLDER_CLIENT_ID, () => clientId);
  if (redirectUri !== undefined) {
    withApp = withApp
      .replaceAll(PLACEHOLDER_REDIRECT_URI, () => redirectUri)
      .replaceAll(encodeURIComponent(PLACEHOLDER_REDIRECT_URI), () => encodeURIComponent(redirectUri));
  }
  for (const [index, between] of [" ", "+", "%20"].entries()) {
    withApp = withApp.replaceAll(PLACEHOLDER_SCOPES[index] as string, () => scope.split(" ").join(between));
  }
  return withApp;
}

/** Fills in a sentence for one installation. */
export function fillInProse(text: string, { origin, brand }: Filling): string {
  return text.replace(ORIGIN, () => origin).replace(BRAND, () => brand);
}

/** Whether a guide has placeholders for one of the reader's apps. */
export function mentionsApp(markdown: string): boolean {
  return markdown.includes(PLACEHOLDER_CLIENT_ID);
}
