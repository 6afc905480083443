/** The groups in which the permissions modal shows the scopes, in this order. @group Scopes */
export type ScopeGroup = "identity" | "read" | "write" | "act";

export type ScopeDescription = {
  /** The text after "It will be able to". */
  sentence: string;
  note?: string;
  group: ScopeGroup;
  /** Whether pages mark the scope as far-reaching. */
  isDangerous?: boolean;
  /** Whether the scope also covers resources of a granted organization. */
  coversOrganizations?: boolean;
};

/** The fifteen scopes, exactly (docs/specification/oauth.md#scopes), with their text on the permissions modal. @group Scopes */
export const scopeDescriptions = {
  openid: { sentence: "Confirm who you are", group: "identity" },
  profile: { sentence: "See your username, name and picture", group: "identity" },
  email: { sentence: "See your e-mail address", group: "identity" },
  "read-billing": {
    sentence: "See whether you have a payment method set up",
    note: "Not the card itself, and no invoices.",
    group: "read",
    coversOrganizations: true,
  },
  "read-repos": {
    sentence: "Read your repositories, including private ones",
    group: "read",
    coversOrganizations: true,
  },
  "gated-repos": {
    sentence: "Read public gated repositories you were given access to",
    note: "No private repositories.",
    group: "read",
  },
  "read-collections": { sentence: "Read your collections, including private ones", group: "read" },
  "contribute-repos": {
    sentence: "Create repositories, and use those it created",
    note: "No access to your other repositories.",
    group: "write",
  },
  "write-repos": { sentence: "Read and change the content of your repositories", group: "write" },
  "manage-repos": {
    sentence: "Create, change and delete your repositories",
    note: "Full access, including deletion and settings.",
    group: "write",
    isDangerous: true,
  },
  "write-collections": { sentence: "Create, change and delete your collections", group: "write" },
  "inference-api": {
    sentence: "Run inference requests in your name",
    note: "They count toward your monthly usage.",
    group: "act",
  },
  jobs: {
    sentence: "Run and schedule jobs in your name, and read the output of all your jobs",
    note: "Jobs count toward your limit of waiting and running jobs. New jobs can read private Spaces only if the app may also read your repositories.",
    group: "act",
    isDangerous: true,
  },
  webhooks: {
    sentence: "Create and change your webhooks, and see their deliveries",
    note: "Only public events, unless the app may also read your private repositories. Its webhooks stop when you revoke the app.",
    group: "act",
  },
  "write-discussions": {
    sentence: "Open discussions and pull requests in your name",
    note: "Including comments and reactions and, where you may write, closing, locking and deleting what others opened.",
    group: "act",
    isDangerous: true,
    coversOrganizations: true,
  },
} as const satisfies Record<string, ScopeDescription>;

export type Scope = keyof typeof scopeDescriptions;

export const scopes = Object.keys(scopeDescriptions) as Scope[];

/** Whether a text is one of the scopes. @group Scopes */
export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopeDescriptions, text);
}

/** A scope's description, typed for code that reads the optional properties. @group Scopes */
export function describeScope(scope: Scope): ScopeDescription {
  return scopeDescriptions[scope];
}

/** Splits a space-separated `scope` value (RFC 6749 §3.3); unknown names are ignored. @group Scopes */
export function parseScope(text: string | undefined): Scope[] {
  return [...new Set((text ?? "").split(" ").filter(isScope))];
}
