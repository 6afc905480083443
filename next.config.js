/** The protocol's paths on a host without server.ts, which takes these paths before Next sees them. */
const protocolPaths = [
  "/oauth/:path*",
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-protected-resource",
];

/** The first letter of a handle, and the rest: never `_next`, and never a leading dot (core/accounts/handles/parse-handle.ts). */
const HANDLE = "[A-Za-z0-9][A-Za-z0-9._-]*";

/** The headers that S23 requires of every page, only for a host without server.ts. server.ts sets its own, which these would replace. */
const pageHeaders = [
  { key: "Content-Security-Policy", value: "frame-ancestors 'none'" },
  { key: "X-Frame-Options", value: "DENY" },
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "no-referrer" },
];

/** @type {import("next").NextConfig} */
export default {
  distDir: process.env.NEXT_DIST_DIR || ".next",
  // From the sources (scripts/setup/build.mjs); otherwise, Next generates one.
  generateBuildId: () => process.env.BUILD_SOURCES?.slice(0, 20) ?? null,
  poweredByHeader: false,
  devIndicators: false,
  // No page uses next/image. Its URL would render any page of the service, bypassing the checks of server/dispatch.ts.
  images: { unoptimized: true },
  turbopack: { root: import.meta.dirname },
  // They read files from their own folders, or are native modules.
  serverExternalPackages: [
    "@napi-rs/blake-hash",
    "@node-rs/argon2",
    "lz4-napi",
    "nodemailer",
    "oidc-provider",
    "pg",
    "pino",
    "sharp",
    "undici",
  ],
  // `npm run types` checks them, with the compiler that the project has chosen.
  typescript: { ignoreBuildErrors: true },
  experimental: {
    serverActions: { bodySizeLimit: "6mb" },
    // The page for URLs that do not exist has a frame. If it was app/not-found.tsx, each page would render it too, and load its scripts.
    globalNotFound: true,
    // React and Next's own client are on every page: two files compress better than five.
    turbopackChunking: { maxChunkCountPerGroup: 1, maxMergeChunkSize: 10_000_000 },
    // The cache makes the next build faster, and this one slower by a third.
    turbopackFileSystemCacheForBuild: !process.env.CI,
    // Source maps are for people who read stack traces.
    turbopackSourceMaps: !process.env.CI,
  },
  rewrites: async () => ({
    afterFiles: [
      ...protocolPaths.map((source) => ({ source, destination: `/api/oidc${source}` })),
      ...["datasets", "spaces"].map((type) => ({
        source: `/${type}/:owner/:name/:path*`,
        destination: `/repos/${type}/:owner/:name/:path*`,
      })),
    ],
    // Models have no prefix before their names: a URL that matches no other page is tried as a model.
    fallback: [{ source: `/:owner(${HANDLE})/:name/:path*`, destination: "/repos/models/:owner/:name/:path*" }],
  }),
  // Each page has one URL: its path in app/ is not one, and `models` is only in URLs of the API.
  redirects: async () => [
    { source: "/repos/:type(datasets|spaces)/:owner/:name/:path*", destination: "/:type/:owner/:name/:path*", permanent: false },
    { source: "/repos/models/:owner/:name/:path*", destination: "/:owner/:name/:path*", permanent: false },
    { source: "/models/:owner/:name/:path*", destination: "/:owner/:name/:path*", permanent: false },
  ],
  headers: async () => [
    { source: "/:path*", missing: [{ type: "header", key: "x-keyhook-client-address" }], headers: pageHeaders },
  ],
};
