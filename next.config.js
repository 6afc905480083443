/** Where the protocol lives on a host without server.ts, which takes these paths before Next sees them. */
const protocolPaths = [
  "/oauth/:path*",
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-protected-resource",
];

/** The first letter of a handle, and the rest: never `_next`, never what has a dot first (core/accounts/handles/parse-handle.ts). */
const HANDLE = "[A-Za-z0-9][A-Za-z0-9._-]*";

/** What S23 asks of every page, for such a host only: server.ts gives its own, which these would take the place of. */
const pageHeaders = [
  { key: "Content-Security-Policy", value: "frame-ancestors 'none'" },
  { key: "X-Frame-Options", value: "DENY" },
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "no-referrer" },
];

/** @type {import("next").NextConfig} */
export default {
  distDir: process.env.NEXT_DIST_DIR || ".next",
  poweredByHeader: false,
  devIndicators: false,
  // No page uses next/image, whose address would draw any page within the service, past the checks of server/dispatch.ts.
  images: { unoptimized: true },
  turbopack: { root: import.meta.dirname },
  // They find files of theirs beside themselves, or are native.
  serverExternalPackages: ["@node-rs/argon2", "nodemailer", "oidc-provider", "pg", "pino", "sharp", "undici"],
  // `npm run types` checks them, with the compiler that the project has chosen.
  typescript: { ignoreBuildErrors: true },
  experimental: { serverActions: { bodySizeLimit: "6mb" } },
  rewrites: async () => ({
    afterFiles: [
      ...protocolPaths.map((source) => ({ source, destination: `/api/oidc${source}` })),
      ...["datasets", "spaces"].map((type) => ({
        source: `/${type}/:owner/:name/:path*`,
        destination: `/repos/${type}/:owner/:name/:path*`,
      })),
    ],
    // Models have no word of their own before their names: what no other page took is asked for as one.
    fallback: [{ source: `/:owner(${HANDLE})/:name/:path*`, destination: "/repos/models/:owner/:name/:path*" }],
  }),
  // One address for each page: the place in app/ is none, and `models` stands only in addresses of the API.
  redirects: async () => [
    { source: "/repos/:type(datasets|spaces)/:owner/:name/:path*", destination: "/:type/:owner/:name/:path*", permanent: false },
    { source: "/repos/models/:owner/:name/:path*", destination: "/:owner/:name/:path*", permanent: false },
    { source: "/models/:owner/:name/:path*", destination: "/:owner/:name/:path*", permanent: false },
  ],
  headers: async () => [
    { source: "/:path*", missing: [{ type: "header", key: "x-keyhook-client-address" }], headers: pageHeaders },
  ],
};
