import type { Person } from "#core/access/actor.ts";
import { type AuditFilter, type AuditScope, parseAuditQuery } from "#core/accounts/audit-log/audit-query.ts";
import { type AuditPage, listAuditEntries } from "#core/accounts/audit-log/list-audit-entries.ts";
import { isServiceError } from "#core/errors.ts";
import { textOf } from "./page-query.ts";

export type AuditSearch = Readonly<{
  search: string;
  /** A scope of types, such as `oauth_app`. Empty for all. */
  kind: string;
  /** How many days before now are searched. Empty for all. */
  days: string;
  before: string;
  after: string;
}>;

const auditDays = ["1", "7", "30", "90"] as const;

type Query = Readonly<Record<string, string | string[] | undefined>>;

export function auditSearchOf(query: Query, kinds: readonly string[]): AuditSearch {
  const [kind, days] = [textOf(query.kind), textOf(query.days)];
  return {
    search: textOf(query.search).trim().slice(0, 300),
    kind: kinds.includes(kind) ? kind : "",
    days: auditDays.find((each) => each === days) ?? "",
    before: textOf(query.before),
    after: textOf(query.after),
  };
}

/** Returns the search in the API's query syntax, which the export also uses. */
export function auditQuery({ search, kind, days }: Pick<AuditSearch, "search" | "kind" | "days">, now = new Date()): string {
  const since = days && new Date(now.getTime() - Number(days) * 24 * 60 * 60 * 1000).toISOString().slice(0, 16);
  return [search, kind && `type:${kind}.*`, since && `since:${since}Z`].filter(Boolean).join(" ");
}

/** Returns all entries and the problem if the search is invalid. Returns only the problem if the search took too long. */
export async function readAuditPage(
  person: Person,
  scope: AuditScope,
  search: AuditSearch,
): Promise<{ page: AuditPage; problem?: string }> {
  const { filter, problem } = readAuditFilter(search);
  try {
    return { page: await listAuditEntries(person, scope, filter, search), ...(problem && { problem }) };
  } catch (error) {
    if (!isServiceError(error) || error.code !== "unavailable") throw error;
    return { page: { entries: [] }, problem: error.message };
  }
}

function readAuditFilter(search: AuditSearch): { filter: AuditFilter; problem?: string } {
  try {
    return { filter: parseAuditQuery(auditQuery(search)) };
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return { filter: { types: [], words: [] }, problem: error.message };
  }
}
