import { auditEventTypes, isAuditEventType } from "./event-types.ts";

type AuditFacts = {
  subject?: string | undefined;
  isOwn?: boolean | undefined;
  app?: string | undefined;
  data: unknown;
};

const FIELD = /\{(\w+)\}/g;
const VALUE_MAX_CHARACTERS = 200;

/** Without the actor: the rest of the sentence. */
export function describeAuditEvent(type: string, facts: AuditFacts): string {
  if (!isAuditEventType(type)) return type;
  const values = valuesOf(facts);
  const fill = (text: string) => text.replace(FIELD, (_, name: string) => values.get(name) ?? "(unknown)");
  const isWhole = (part: string) => [...part.matchAll(FIELD)].every(([, name = ""]) => values.has(name));
  // In one pass, so that braces within a value are not taken for a field.
  return auditEventTypes[type].did.replace(/\[([^[\]]*)\]|\{\w+\}/g, (text, part?: string) => {
    if (part === undefined) return fill(text);
    return isWhole(part) ? fill(part) : "";
  });
}

function valuesOf({ subject, isOwn, app, data }: AuditFacts): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(typeof data === "object" && data !== null ? data : {})) {
    if (typeof value === "string" || typeof value === "number") values.set(name, shorten(String(value)));
  }
  if (subject !== undefined) values.set("subject", subject);
  if (subject !== undefined && !isOwn) values.set("other", subject);
  if (app !== undefined) values.set("app", shorten(app));
  return values;
}

function shorten(value: string): string {
  return value.length > VALUE_MAX_CHARACTERS ? `${value.slice(0, VALUE_MAX_CHARACTERS).toWellFormed()}…` : value;
}
