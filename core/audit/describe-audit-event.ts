import { auditEventTypes, isAuditEventType } from "./event-types.ts";

export type AuditFacts = {
  /** Names for what the entry refers to by an id; undefined where there is nothing of that kind. */
  subject?: string | undefined;
  app?: string | undefined;
  data: unknown;
};

const FIELD = /\{(\w+)\}/g;
const VALUE_MAX_CHARACTERS = 200;

/** What an entry says, as the rest of a sentence that begins with who did it. */
export function describeAuditEvent(type: string, facts: AuditFacts): string {
  // An entry of a version that is gone by now, or of a newer one.
  if (!isAuditEventType(type)) return type;
  const values = valuesOf(facts);
  const fill = (text: string) => text.replace(FIELD, (_, name: string) => values.get(name) ?? "(unknown)");
  const isWhole = (part: string) => [...part.matchAll(FIELD)].every(([, name = ""]) => values.has(name));
  // In one pass: what stands in a value is no field.
  return auditEventTypes[type].did.replace(/\[([^[\]]*)\]|\{\w+\}/g, (text, part?: string) => {
    if (part === undefined) return fill(text);
    return isWhole(part) ? fill(part) : "";
  });
}

function valuesOf({ subject, app, data }: AuditFacts): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(typeof data === "object" && data !== null ? data : {})) {
    if (typeof value === "string" || typeof value === "number") values.set(name, shorten(String(value)));
  }
  if (subject !== undefined) values.set("subject", subject);
  if (app !== undefined) values.set("app", shorten(app));
  return values;
}

function shorten(value: string): string {
  return value.length > VALUE_MAX_CHARACTERS ? `${value.slice(0, VALUE_MAX_CHARACTERS).toWellFormed()}…` : value;
}
