import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { invalidRequest } from "#core/errors.ts";

export type AuditFilter = {
  author?: string;
  ip?: string;
  types: string[];
  since?: Date;
  until?: Date;
  words: string[];
};

const MAX_CHARACTERS = 500;
const MAX_TERMS = 20;
const MAX_WORDS = 5;
const TERM = /(?:(author|ip|type|since|until):)?(?:"([^"]*)"|(\S+))/g;
const TYPE = /^[a-z_]{1,60}(\.([a-z_]{1,60}|\*))?$/;

/** See docs/specification/organizations-and-tokens.md#audit-log. */
export function parseAuditQuery(text: string): AuditFilter {
  if (text.length > MAX_CHARACTERS) throw invalid(`A search can have at most ${MAX_CHARACTERS.toLocaleString("en")} characters.`);
  const filter: AuditFilter = { types: [], words: [] };
  const terms = [...text.replaceAll("\0", "").toWellFormed().matchAll(TERM)];
  if (terms.length > MAX_TERMS) throw invalid(`A search can have at most ${MAX_TERMS} terms.`);
  for (const [, name, quoted, plain] of terms) {
    const value = (quoted ?? plain ?? "").trim();
    if (value === "") continue;
    if (name === "author" || name === "ip") filter[name] = value;
    else if (name === "type") filter.types.push(parseType(value));
    else if (name === "since") filter.since = parseTime(value, "since");
    else if (name === "until") filter.until = parseTime(value, "until");
    else filter.words.push(value);
  }
  if (filter.words.length > MAX_WORDS)
    throw invalid(`A search can have at most ${MAX_WORDS} words. A phrase in quotation marks counts as one word.`);
  return filter;
}

function parseType(value: string): string {
  if (!TYPE.test(value))
    throw invalid("Enter a type, such as type:oauth_app.create, or type:oauth_app.* for all actions of a scope.");
  return value.includes(".") ? value : `${value}.*`;
}

/** Days are in UTC. A range that ends with a day includes the whole day. */
function parseTime(value: string, name: "since" | "until"): Date {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(value);
  const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(value);
  // Postgres has no year 0. All entries are newer than 1970, so an earlier time means the same as 1970.
  const at = new Date(Math.max(new Date(value).getTime(), 0));
  if ((!isDay && !isMoment) || Number.isNaN(at.getTime()))
    throw invalid(`Enter ${name} with a date, such as ${name}:2026-11-21, or a time, such as ${name}:2026-11-21T09:30Z.`);
  return name === "until" && isDay ? new Date(at.getTime() + 24 * 60 * 60 * 1000) : at;
}

const invalid = (sentence: string) => invalidRequest(sentence, "q");

export type AuditScope = { kind: "organization"; orgId: string } | { kind: "person"; userId: string } | { kind: "installation" };

export async function requireAuditScope(actor: Actor, scope: AuditScope): Promise<void> {
  if (scope.kind === "organization") {
    const { orgId } = scope;
    return requirePermission(actor, "audit_log.read", { orgId }, { what: "Organization" });
  }
  if (scope.kind === "person") {
    return requirePermission(actor, "security_log.read", { userId: scope.userId }, { what: "User" });
  }
  return requirePermission(actor, "installation.operate", null, { what: "The installation" });
}
