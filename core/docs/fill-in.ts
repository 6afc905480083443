/** What stands in a guide in place of what each reader has: readable where the file lies, filled in where it is shown or run. */
export type Filling = Readonly<{
  /** The service's own address, without a slash at its end. */
  origin: string;
  brand: string;
  /** The word in `urn:<vendor>:…`. */
  vendor: string;
  tokenPrefix: string;
  /** An app of the reader's. */
  app?: FillingApp;
}>;

export type FillingApp = Readonly<{
  clientId: string;
  /** One that is registered. */
  redirectUri?: string;
  /** Space-separated. */
  scope: string;
}>;

export const PLACEHOLDER_ORIGIN = "http://localhost:3000";
export const PLACEHOLDER_CLIENT_ID = "YOUR_CLIENT_ID";
export const PLACEHOLDER_REDIRECT_URI = "http://localhost:8080/callback";
/** What guides ask for, as it stands in code, in a query and in a shell. */
const PLACEHOLDER_SCOPES = [" ", "+", "%20"].map((between) => ["openid", "profile", "email"].join(between));

/** The product's name as a word of its own: not in `Keyhook/1.0`, which is what the service calls itself to others. */
const BRAND = /(?<![-\w@/.])Keyhook(?![-/\w])/g;
const ORIGIN = /http:\/\/localhost:3000(?!\d)|https:\/\/(?:hub|keyhook)\.example\.com(?![\w.-])/g;

/** Code, an address or a command, for one reader. */
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

/** A sentence, for one instance. */
export function fillInProse(text: string, { origin, brand }: Filling): string {
  return text.replace(ORIGIN, () => origin).replace(BRAND, () => brand);
}

/** Whether an app of the reader's would change anything. */
export function namesAnApp(markdown: string): boolean {
  return markdown.includes(PLACEHOLDER_CLIENT_ID);
}
