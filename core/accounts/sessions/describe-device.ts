// The order matters: most browsers also name the browsers that they imitate.
const browsers: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, "Edge"],
  [/\bOPR\/|\bOpera\b/, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\bYaBrowser\//, "Yandex Browser"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bHeadlessChrome\//, "Headless Chrome"],
  [/\bChromium\//, "Chromium"],
  [/\bChrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^(openid-client|oauth4webapi|node|undici|axios|got)\b/, "Node.js program"],
  [/^(Deno|Bun)\//, "JavaScript program"],
  [/^python-|^Python-|^aiohttp\//, "Python program"],
  [/^Go-http-client\//, "Go program"],
  [/^okhttp\/|^Java\/|^Java-http-client\//, "Java program"],
];

/** The first product of a program that is not a browser (RFC 9110 §10.1.5). */
const PRODUCT = /^(?!Mozilla\/)([A-Za-z][\w.-]{0,39})(\/|$)/;

const systems: [RegExp, string][] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b|\b[Dd]arwin\b/, "macOS"],
  [/\b[Ll]inux\b|\bX11\b/, "Linux"],
];

/** A hint for people, never a proof. */
export function describeDevice(userAgent: string | null): string {
  const browser = nameIn(browsers, userAgent) ?? userAgent?.match(PRODUCT)?.[1];
  const system = nameIn(systems, userAgent);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? "Unknown device";
}

function nameIn(table: [RegExp, string][], userAgent: string | null): string | undefined {
  return userAgent === null ? undefined : table.find(([pattern]) => pattern.test(userAgent))?.[1];
}
