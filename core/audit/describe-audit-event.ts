import { auditEventTypes, isAuditEventType } from "./event-types.ts";

type AuditFacts = {
  subject?: string | undefined;
  isOwn?: boolean | undefined;
  app?: string | undefined;
  data: unknown;
};

const FIELD = /\{(\w+)\}/g;
const VALUE_MAX_CHARACTERS = 200;

const CODES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "organization.set_app_policy": { all: "all apps", approved: "approved apps", none: "no apps" },
  "oauth_app.privilege_grant": { "token-exchange": "token exchange" },
  "oauth_app.privilege_revoke": { "token-exchange": "token exchange" },
  "oauth_app.privilege_request": { "token-exchange": "token exchange" },
  "webhook.suspend": {
    gone: "its target responded with 410 Gone",
    failing: "every attempt in the last five days failed",
    grant_ended: "the app or token that created or last changed it no longer has access",
  },
  "inference_allowance.set": { user: "every user", organization: "every organization" },
};

/** Describes an entry in words that continue a sentence after its actor. */
export function describeAuditEvent(type: string, facts: AuditFacts): string {
  if (!isAuditEventType(type)) return type;
  const values = valuesOf(type, facts);
  const fill = (text: string) => text.replace(FIELD, (_, name: string) => values.get(name) ?? "(unknown)");
  const isWhole = (part: string) => [...part.matchAll(FIELD)].every(([, name = ""]) => values.has(name));
  // All fields are replaced in one pass, so that braces within a value are not taken for a field.
  return auditEventTypes[type].did.replace(/\[([^[\]]*)\]|\{\w+\}/g, (text, part?: string) => {
    if (part === undefined) return fill(text);
    return isWhole(part) ? fill(part) : "";
  });
}

function valuesOf(type: string, { subject, isOwn, app, data }: AuditFacts): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(typeof data === "object" && data !== null ? data : {})) {
    if (typeof value === "string") values.set(name, wordOf(type, value) ?? shorten(value));
    // A discussion's number is a name, so it gets no thousands separators.
    else if (typeof value === "number") values.set(name, name === "num" ? String(value) : value.toLocaleString("en"));
  }
  if (subject !== undefined) values.set("subject", subject);
  if (subject !== undefined && !isOwn) values.set("other", subject);
  if (app !== undefined) values.set("app", shorten(app));
  return values;
}

function wordOf(type: string, code: string): string | undefined {
  const [, plan] = /^plan:(\w+)$/.exec(code) ?? [];
  if (type === "inference_allowance.set" && plan) return `organizations with the plan ${plan}`;
  const codes = CODES[type];
  return codes && Object.hasOwn(codes, code) ? codes[code] : undefined;
}

function shorten(value: string): string {
  return value.length > VALUE_MAX_CHARACTERS ? `${value.slice(0, VALUE_MAX_CHARACTERS).toWellFormed()}…` : value;
}
