import { auditEventTypes } from "#core/audit/event-types.ts";

const labels: Record<string, string> = {
  user: "Accounts and sign-in",
  second_step: "Second step",
  passkey: "Passkeys",
  totp: "Authenticator apps",
  recovery_code: "Recovery codes",
  linked_identity: "Linked accounts",
  personal_access_token: "Access tokens",
  organization: "Organization and members",
  identity_provider: "Identity providers",
  oauth_consent: "Consents",
  device: "Devices",
  oauth_token: "Exchanges and replays",
  oauth_logout_notice: "Sign-out notices",
  oauth_app: "OAuth apps",
  oauth_client_document: "Metadata documents",
  oauth_client_host: "App hosts",
  trusted_publisher: "Trusted publishers",
  ci_token: "CI exchanges",
  credential: "Leaked tokens",
  repo: "Repositories",
  access_request: "Access requests",
  discussion: "Discussions",
  collection: "Collections",
  audit_log: "Audit log",
  installation: "Installation",
  signing_key: "Signing keys",
  resource_server: "Resource servers",
  platform: "Platforms",
  mail: "Mail",
};

export type AuditKind = Readonly<{ value: string; label: string }>;

/** Scopes of types by which a log is narrowed down; for an organization those that it can meet. */
export function auditKinds({ isForOrganizations }: { isForOrganizations: boolean }): AuditKind[] {
  const types = Object.entries(auditEventTypes).filter(
    ([, described]) => !isForOrganizations || "isForOrganizations" in described,
  );
  const scopes = [...new Set(types.map(([type]) => type.slice(0, type.indexOf("."))))];
  return scopes
    .map((value) => ({ value, label: labels[value] ?? spoken(value) }))
    .sort((one, other) => one.label.localeCompare(other.label, "en"));
}

function spoken(scope: string): string {
  const words = scope.replaceAll("_", " ");
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}
