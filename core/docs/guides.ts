/** One page under `/docs`, made from a Markdown file of the repository, which is readable on its own. */
export type Guide = Readonly<{
  /** Its address: `/docs/<slug>`. */
  slug: string;
  /** Its file, from the project's root. */
  path: string;
  /** Its name in the navigation; the page's title is the file's own first heading. */
  label: string;
  /** Who reads this guide, in the words of the index: those who have "a site or an app". */
  has: string;
  /** What to use, in one line. */
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

/** All guides, in the order of the navigation. */
export const guideSections: readonly GuideSection[] = [
  {
    label: "Sign people in",
    guides: [
      guide("sign-in", "Sign-in", "A site or an app", "Authorization code with PKCE: the button “Sign in with Keyhook”"),
      guide("device", "Devices and command lines", "A command line, a television, a machine", "Device code (RFC 8628)"),
      guide(
        "metadata-documents",
        "Metadata documents",
        "A site that nobody registers",
        "A client ID that is the address of a document",
      ),
      guide("stronger-clients", "Stronger clients", "More to protect", "PAR, DPoP, keys instead of a secret, sign-out notices"),
      guide("agents", "Agents and MCP", "An agent or an MCP client", "Nothing but the address, and what it finds there"),
    ],
  },
  {
    label: "Act without a person",
    guides: [
      guide("token-exchange", "Token exchange", "A job of an organization", "A member’s token by e-mail address (RFC 8693)"),
      guide("keyless-ci", "Keyless CI", "A pipeline", "Its own identity, for an hour’s token of one repository"),
    ],
  },
  {
    label: "Hear of changes",
    guides: [
      guide("webhooks", "Webhooks", "Something that hears of changes", "Each event posted to it, signed, tried again, looked at"),
      guide("events", "Events", "A question about a payload", "Every kind of event with an example"),
      guide(
        "receiver",
        "Receiver",
        "A function to call for each event",
        "A webhook server in three lines",
        "packages/receiver/README.md",
      ),
      guide("relay", "Relay", "A receiver behind a firewall", "A public address that waits while you are away"),
      guide("events-from-outside", "Events from outside", "Repositories elsewhere", "CloudEvents and a synchronisation"),
    ],
  },
  {
    label: "Run and ask",
    guides: [
      guide("jobs", "Jobs", "A command to run", "By hand, by a program, on a schedule, by a webhook"),
      guide("spaces", "Spaces", "Something small that answers requests", "Pushed, run in a sandbox, asleep until it is asked"),
      guide("inference", "Inference", "Something to ask a model", "The gateway at /v1, with the token you have"),
    ],
  },
  {
    label: "Tools",
    guides: [
      guide("command-line", "Command line", "A terminal", "The command keyhook", "packages/cli/README.md"),
      guide(
        "sdk",
        "SDK",
        "A program in JavaScript or TypeScript",
        "A typed client, sign-in and signatures",
        "packages/sdk/README.md",
      ),
    ],
  },
  {
    label: "Operators",
    guides: [
      guide("operations", "Operations", "An installation to look after", "Running, upgrading, backing up", "docs/operations.md"),
      guide("monitoring", "Monitoring", "Something that watches services", "Metrics and traces", "docs/monitoring.md"),
      guide("access", "Who may do what", "A question about rights", "The one table that every door asks", "docs/access.md"),
      guide(
        "signing-in-elsewhere",
        "Identity providers",
        "Accounts somewhere else already",
        "Sign-in by GitHub, Google or any OpenID issuer",
        "docs/signing-in-elsewhere.md",
      ),
      guide("audit-log", "Audit log", "Something to prove", "Who did what, exported and verified"),
    ],
  },
];

export const guides: readonly Guide[] = guideSections.flatMap(({ guides: each }) => each);
