export type Guide = Readonly<{
  slug: string;
  path: string;
  label: string;
  has: string;
  use: string;
}>;

export type GuideSection = Readonly<{ label: string; guides: readonly Guide[] }>;

const guide = (slug: string, label: string, has: string, use: string, path = `docs/guides/${slug}.md`): Guide => ({
  slug,
  path,
  label,
  has,
  use,
});

export const guideSections: readonly GuideSection[] = [
  {
    label: "Sign people in",
    guides: [
      guide("sign-in", "Sign-in", "A site or an app", "Authorization code with PKCE: the button “Sign in with Keyhook”"),
      guide("device", "Devices and command lines", "A command line, a television or another device", "Device code (RFC 8628)"),
      guide(
        "metadata-documents",
        "Metadata documents",
        "A site without registration",
        "A client ID that is the URL of a document",
      ),
      guide(
        "stronger-clients",
        "Stronger clients",
        "A site with more to protect",
        "PAR, DPoP, keys instead of a secret, sign-out notices",
      ),
      guide("agents", "Agents and MCP", "An agent or an MCP client", "Only the URL, and what an agent discovers there"),
    ],
  },
  {
    label: "Act without a user",
    guides: [
      guide("token-exchange", "Token exchange", "A program of an organization", "A member’s token by e-mail address (RFC 8693)"),
      guide("keyless-ci", "Keyless CI", "A pipeline", "Its own ID token, exchanged for a one-hour token for one repository"),
    ],
  },
  {
    label: "Receive events",
    guides: [
      guide("webhooks", "Webhooks", "A server that receives events", "Events as signed requests, with retries and a log"),
      guide("events", "Event catalog", "A question about a payload", "Every kind of event with a sample payload"),
      guide(
        "receiver",
        "Receiver",
        "A function for each event",
        "A webhook server in three lines",
        "packages/receiver/README.md",
      ),
      guide("relay", "Relay", "A receiver behind a firewall", "A public URL that keeps requests while you are away"),
      guide("events-from-outside", "Events from outside", "Repositories elsewhere", "CloudEvents and synchronization"),
    ],
  },
  {
    label: "Run code",
    guides: [
      guide("jobs", "Jobs", "A command to run", "Manually, by API, on a schedule or by a webhook"),
      guide("spaces", "Spaces", "A small server", "Deployed by a push, runs in a sandbox, sleeps when idle"),
      guide("inference", "Inference", "A program that uses a model", "The gateway at /v1, with your existing token"),
    ],
  },
  {
    label: "Tools",
    guides: [
      guide("command-line", "Command line", "A terminal", "The keyhook command", "packages/cli/README.md"),
      guide(
        "sdk",
        "SDK",
        "A JavaScript or TypeScript program",
        "A typed client, sign-in and signatures",
        "packages/sdk/README.md",
      ),
    ],
  },
  {
    label: "Operators",
    guides: [
      guide("operations", "Operations", "An installation to operate", "Running, upgrading, backing up", "docs/operations.md"),
      guide("monitoring", "Monitoring", "A monitoring system", "Metrics and traces", "docs/monitoring.md"),
      guide("access", "Permissions", "A question about permissions", "One table of all permissions", "docs/access.md"),
      guide(
        "signing-in-elsewhere",
        "Identity providers",
        "Existing accounts at another provider",
        "Sign-in with GitHub, Google or any OpenID issuer",
        "docs/signing-in-elsewhere.md",
      ),
      guide("audit-log", "Audit log", "An audit to pass", "Who did what, exported and verified"),
    ],
  },
];

export const guides: readonly Guide[] = guideSections.flatMap(({ guides: each }) => each);
