/** The paths of OpenID Connect, for a host that runs Next without server.ts. server.ts handles them before Next sees them. */
const protocolPaths = [
  "/oauth/:path*",
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-protected-resource",
];

/** Matches every handle, but neither `_next` nor a name with a leading dot (core/accounts/handles/parse-handle.ts). */
const HANDLE = "[A-Za-z0-9][A-Za-z0-9._-]*";

/** S23 requires these headers on every page. Next sets them only without server.ts, whose own headers they would replace. */
const pageHeaders = [
  { key: "Content-Security-Policy", value: "frame-ancestors 'none'" },
  { key: "X-Frame-Options", value: "DENY" },
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "no-referrer" },
];

/** @type {import("next").NextConfig} */
export default {
  distDir: process.env.NEXT_DIST_DIR || ".next",
  // scripts/setup/build.mjs derives the ID from the sources. Without BUILD_SOURCES, Next generates one.
  generateBuildId: () => process.env.BUILD_SOURCES?.slice(0, 20) ?? null,
  poweredByHeader: false,
  devIndicators: false,
  // No page uses next/image. Its URL (/_next/image) would render any page of the service without the checks of server/dispatch.ts.
  images: { unoptimized: true },
  turbopack: { root: import.meta.dirname },
  // These packages read files from their own folders, or contain native modules.
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
  // `npm run types` checks the types, with the project's own compiler.
  typescript: { ignoreBuildErrors: true },
  experimental: {
    serverActions: { bodySizeLimit: "6mb" },
    // app/global-not-found.tsx is the page for unknown URLs. If it were app/not-found.tsx, every page would load the scripts of its frame.
    globalNotFound: true,
    // Every page loads React and Next's client, and two files compress better than five.
    turbopackChunking: { maxChunkCountPerGroup: 1, maxMergeChunkSize: 10_000_000 },
    // The cache makes the next build faster, and this one slower by a third, so CI has no cache.
    turbopackFileSystemCacheForBuild: !process.env.CI,
    // CI needs no source maps, which are for people who read stack traces.
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
  // Each page has one URL. These redirect to it from the page's path in app/, and from URLs with `models`, which only the API has.
  redirects: async () => [
    { source: "/repos/:type(datasets|spaces)/:owner/:name/:path*", destination: "/:type/:owner/:name/:path*", permanent: false },
    { source: "/repos/models/:owner/:name/:path*", destination: "/:owner/:name/:path*", permanent: false },
    { source: "/models/:owner/:name/:path*", destination: "/:owner/:name/:path*", permanent: false },
  ],
  headers: async () => [
    { source: "/:path*", missing: [{ type: "header", key: "x-keyhook-client-address" }], headers: pageHeaders },
  ],
};
