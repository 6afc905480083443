import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** All rules that match a file apply to it (ARCHITECTURE.md). */
type ImportRule = {
  files: RegExp;
  mayNotImport: RegExp;
  why: string;
};

const rules: readonly ImportRule[] = [
  {
    files: /^(core|api|worker|packages)\//,
    mayNotImport: /^(next|next-auth|react|react-dom)(\/|$)/,
    why: "Only app and pages import Next and React.",
  },
  {
    files: /^server[./]/,
    mayNotImport: /^(next-auth|react)(\/|$)/,
    why: "The web process passes requests on and renders nothing.",
  },
  {
    // The receiver's tests mount the receiver into a server made with Hono.
    files: /^(core|app|pages|worker|packages(?!\/receiver\/.*\.test\.ts$))\/|^server[./]/,
    mayNotImport: /^@?hono(\/|$)/,
    why: "Only api imports Hono.",
  },
  {
    files: /^(core\/(?!oauth\/)|app\/|api\/|pages\/|worker\/|packages\/|server[./])/,
    mayNotImport: /^oidc-provider(\/|$)/,
    why: "Only core/oauth imports the engine.",
  },
  {
    files: /^core\/oauth\/(?!provider-internals\.ts$)/,
    mayNotImport: /^oidc-provider\//,
    why: "Use the engine's public API; what cannot be avoided is in core/oauth/provider-internals.ts.",
  },
  {
    files: /^(app|api|pages)\//,
    mayNotImport: /^(pg$|@prisma\/|core\/generated\/)/,
    why: "Doors call an operation of core; only core and worker access the database.",
  },
  {
    files: /^core\//,
    mayNotImport: /^(app|api|pages|worker|server)\//,
    why: "core never imports a door: doors translate and call core.",
  },
  ...[
    { files: /^app\//, mayNotImport: /^(api|pages|worker|server)\// },
    { files: /^api\//, mayNotImport: /^(app|pages|worker|server)\// },
    { files: /^pages\//, mayNotImport: /^(app|api|worker|server)\// },
    { files: /^worker\//, mayNotImport: /^(app|api|pages|server)\// },
    { files: /^server[./]/, mayNotImport: /^(app|worker)\// },
  ].map((rule) => ({ ...rule, why: "A door never imports another door: call the same operation of core." })),
  {
    files: /^app\/.*\.client\.tsx$/,
    mayNotImport: /^(core\/|node:)|\/_server\//,
    why: "This file runs in the browser: it gets what it needs from its page or from @keyhook/sdk.",
  },
  {
    files: /^(e2e|examples)\//,
    mayNotImport: /^(core|app|worker|server)\//,
    why: "Examples and black-box tests import nothing of the service.",
  },
  {
    files: /^packages\/(?!cli\/testing\/)(?!cli\/.*\.test\.ts$)/,
    mayNotImport: /^(core|app|worker|server)\//,
    why: "What others install imports nothing of the service.",
  },
  { files: /^packages\/sdk\/(?!.*\.test\.ts$)/, mayNotImport: /^(@keyhook\/|node:)/, why: "The SDK stands alone." },
  {
    files: /^core\/outbound\/(?!testing\/)(?!.*\.test\.ts$)/,
    mayNotImport: /^(?!core\/outbound\/|core\/(env|errors|log)\.ts$|package\.json$|node:|undici$|ipaddr\.js$)/,
    why: "core/outbound stands alone: env, errors, log, Node, undici and ipaddr.js only.",
  },
  {
    files: /^(?!.*\.test\.ts$)(core\/(?!backup\/)|app\/|api\/|pages\/|worker\/|server[./])/,
    mayNotImport: /^core\/backup\//,
    why: "Only the operator's command makes and restores backups.",
  },
  ...Object.entries({
    "[^/]+\\.ts$|crypto/":
      "spaces hub events webhooks relay jobs oauth access accounts audit housekeeping http images instance mail outbound postgres",
    "(audit|http|images|mail|postgres|housekeeping)/": "spaces hub events webhooks relay jobs oauth access accounts instance",
    "access/": "spaces hub events webhooks relay jobs oauth accounts instance",
    "accounts/": "spaces hub events webhooks relay jobs oauth instance",
    "inference/": "spaces hub events webhooks relay jobs oauth instance operations",
    "events/": "spaces hub webhooks relay jobs oauth instance",
    "jobs/": "spaces hub events webhooks relay oauth instance",
    "relay/": "spaces hub events webhooks jobs oauth instance",
    "webhooks/": "spaces hub events oauth instance",
    "hub/": "spaces oauth instance",
    "spaces/": "webhooks oauth instance",
    "oauth/": "spaces hub events webhooks relay jobs instance",
    "instance/": "oauth access",
  }).map(([lower, upper]) => ({
    files: new RegExp(`^core/(?!.*\\.test\\.ts$)(${lower})`),
    mayNotImport: new RegExp(`^core/(${upper.replaceAll(" ", "|")})/`),
    why: "Imports inside core go one way: a lower directory imports none of the upper ones.",
  })),
];

export function importFault(file: string, specifier: string): string | undefined {
  const imported = pathOf(file, specifier);
  return rules.find(({ files, mayNotImport }) => files.test(file) && mayNotImport.test(imported))?.why;
}

function pathOf(file: string, specifier: string): string {
  if (specifier.startsWith("#core/")) return specifier.slice(1);
  return specifier.startsWith(".") ? join(dirname(file), specifier) : specifier;
}

const IMPORT = /(?:\bfrom |^import )"([^"]+)";|\bimport\("([^"]+)"\)/gm;

export function importFaults(root: string): string[] {
  const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const files = tracked.split("\n").filter((file) => rules.some((rule) => rule.files.test(file)) && /\.(tsx?|mjs)$/.test(file));
  return files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(IMPORT)].flatMap(([, named, loaded]) => {
      const specifier = named ?? loaded ?? "";
      const fault = importFault(file, specifier);
      return fault ? [`${file} imports ${specifier}: ${fault}`] : [];
    }),
  );
}
