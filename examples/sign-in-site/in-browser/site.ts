import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import { isLoopback, type Settings } from "../settings.ts";

/** Any static host would be enough, because the server stores nothing. The site itself is `app.js`. */
export function inBrowserSite(
  { issuer, issuerName, knownOrganizations }: Settings,
  { clientId }: NonNullable<Settings["inBrowser"]>,
): Hono {
  const site = new Hono();
  site.use(
    secureHeaders({
      // The page has tokens, so it runs only its own script and connects only to the issuer.
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", issuer.origin],
        connectSrc: ["'self'", issuer.origin],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
      referrerPolicy: "no-referrer",
    }),
  );

  // The issuer has no trailing slash, to match the issuer in the ID token.
  const settings = {
    issuer: issuer.href.replace(/\/$/, ""),
    issuerName,
    clientId,
    knownOrganizations,
    isInsecureAllowed: isLoopback(issuer),
  };
  const lines = Object.entries(settings).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
  site.get("/settings.js", (c) => c.body(lines.join("\n"), 200, { "Content-Type": "text/javascript" }));

  // The library is one module without dependencies, so no bundler is needed.
  const library = fileURLToPath(import.meta.resolve("oauth4webapi"));
  site.get("/modules/oauth4webapi.js", serveStatic({ path: library }));
  for (const name of ["app.js", "page.js"]) site.get(`/${name}`, serveStatic({ path: resolve(import.meta.dirname, name) }));
  for (const path of ["/", "/callback"]) site.get(path, serveStatic({ path: resolve(import.meta.dirname, "index.html") }));
  for (const root of ["..", "../../look"]) site.get("/assets/*", serveStatic({ root: resolve(import.meta.dirname, root) }));
  return site;
}
