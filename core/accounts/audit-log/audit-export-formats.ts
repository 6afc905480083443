import { stringify } from "csv-stringify/sync";
import type { WireAuditEvent } from "./audit-event-on-the-wire.ts";

export const auditExportFormats = ["json", "jsonl", "csv"] as const;
export type AuditExportFormat = (typeof auditExportFormats)[number];

/** The media type of each export format. */
export const mediaTypeOf: Record<AuditExportFormat, string> = {
  json: "application/json; charset=utf-8",
  jsonl: "application/jsonl; charset=utf-8",
  csv: "text/csv; charset=utf-8; header=present",
};

type Place = { isFirst: boolean; isLast: boolean };

/** One batch of entries as part of a file: together, the parts are one JSON array, JSON lines, or one table. */
export function formatBatch(format: AuditExportFormat, events: WireAuditEvent[], { isFirst, isLast }: Place): string {
  if (format === "csv") return toCsv(events, isFirst);
  const texts = events.map((event) => JSON.stringify(event));
  if (format === "jsonl") return texts.map((text) => `${text}\n`).join("");
  return `${isFirst ? "[" : ""}${texts.length > 0 && !isFirst ? ",\n" : ""}${texts.join(",\n")}${isLast ? "]\n" : ""}`;
}

const columns: Record<string, (event: WireAuditEvent) => string | null> = {
  id: ({ _id }) => _id,
  created_at: ({ createdAt }) => createdAt,
  type: ({ type }) => type,
  message: ({ message }) => message,
  author_type: ({ author }) => author.type,
  author_id: ({ author }) => ("_id" in author ? author._id : null),
  author: ({ author }) => ("user" in author ? author.user : null),
  subject_id: ({ subject }) => subject?._id ?? null,
  subject: ({ subject }) => subject?.user ?? null,
  organization: ({ organization }) => organization?.name ?? null,
  client_id: ({ oauth }) => oauth?.clientId ?? null,
  client_name: ({ oauth }) => oauth?.name ?? null,
  token_type: ({ token }) => token?.type ?? null,
  token_id: ({ token }) => token?.id ?? null,
  token_last4: ({ token }) => token?.last4 ?? null,
  ip: ({ ip }) => ip,
  user_agent: ({ userAgent }) => userAgent,
  data: ({ data }) => JSON.stringify(data),
};

/** RFC 4180. Names of apps and browsers come from strangers: a value that a spreadsheet would run as a formula is turned into text. */
function toCsv(events: WireAuditEvent[], isFirst: boolean): string {
  const rows = events.map((event) => Object.values(columns).map((read) => read(event)));
  const records = isFirst ? [Object.keys(columns), ...rows] : rows;
  return stringify(records, { escape_formulas: true, record_delimiter: "\r\n" });
}
