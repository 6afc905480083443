export type Filling = Readonly<{
  origin: string;
  brand: string;
  vendor: string;
  tokenPrefix: string;
  app?: FillingApp;
}>;

export type FillingApp = Readonly<{
  clientId: string;
  redirectUri?: string;
  scope: string;
}>;

export const PLACEHOLDER_ORIGIN = "http://localhost:3000";
const PLACEHOLDER_CLIENT_ID = "YOUR_CLIENT_ID";
const PLACEHOLDER_REDIRECT_URI = "http://localhost:8080/callback";
const PLACEHOLDER_SCOPES = [" ", "+", "%20"].map((between) => ["openid", "profile", "email"].join(between));

const BRAND = /(?<![-\w@/.])Keyhook(?![-/\w])/g;
const ORIGIN = /http:\/\/localhost:3000(?!\d)|https:\/\/(?:hub|keyhook)\.example\.com(?![\w.-])/g;

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

export function fillInProse(text: string, { origin, brand }: Filling): string {
  return text.replace(ORIGIN, () => origin).replace(BRAND, () => brand);
}

export function mentionsApp(markdown: string): boolean {
  return markdown.includes(PLACEHOLDER_CLIENT_ID);
}
