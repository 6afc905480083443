import { z } from "zod";
import { type Asked, part } from "./addresses.ts";
import { unexpectedContent } from "./api-error.ts";
import type { Transport } from "./transport.ts";

const nullable = z.string().nullish();
const eventSchema = z.looseObject({
  _id: z.string(),
  createdAt: z.string(),
  type: z.string(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()),
  ip: nullable,
  userAgent: nullable,
  author: z.looseObject({ type: z.string(), _id: z.string().optional(), user: nullable }),
  token: z.looseObject({ type: z.string(), id: z.string() }).nullish(),
  oauth: z.looseObject({ clientId: z.string(), name: nullable }).nullish(),
});
/**
 * One entry of an organization's audit log. `type` is, for example, `oauth_app.create`, and `createdAt` is ISO 8601 in UTC.
 * @group Client @useDeclaredType
 */
export type AuditLogEntry = z.infer<typeof eventSchema>;

/** A filter of the entries to read. @group Client */
export type AuditLogQuery = Asked & {
  /** A search such as `author:mara type:oauth_app.* since:2026-11-01`; also `ip:`, `until:` and words. */
  q?: string;
};

/**
 * The operations of `client.auditLog`.
 *
 * The audit log of an organization, for its administrators: at most 100,000 entries, newest first. The token must be the token of
 * the service's own command line, or a personal access token with the scope `manage-repos`.
 * @group Client @useDeclaredType
 */
export type AuditLogClient = ReturnType<typeof auditLogOf>;

export function auditLogOf({ bytes }: Transport) {
  const file = (organization: string, { q, format, signal }: AuditLogQuery & { format: "json" | "jsonl" | "csv" }) =>
    bytes(`/api/organizations/${part(organization)}/audit-log/export`, { query: { q, format }, signal });

  return {
    /** Reads the log as a file, in pieces of bytes as they arrive. */
    export: (organization: string, { format = "jsonl", ...query }: AuditLogQuery & { format?: "json" | "jsonl" | "csv" } = {}) =>
      file(organization, { ...query, format }),

    /** Reads the log entry by entry. @throws {@link ApiError} `unexpected_answer`: the log was cut off. */
    async *entries(organization: string, query: AuditLogQuery = {}): AsyncGenerator<AuditLogEntry> {
      for await (const line of linesOf(file(organization, { ...query, format: "jsonl" }))) yield readEntry(line);
    },
  };
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun = "";
  for await (const chunk of bytes) {
    const lines = (begun + decoder.decode(chunk, { stream: true })).split("\n");
    begun = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
  }
  if (begun !== "") yield begun;
}

function readEntry(line: string): AuditLogEntry {
  try {
    return eventSchema.parse(JSON.parse(line));
  } catch (cause) {
    throw unexpectedContent(
      "The audit log was cut off, or has an entry that this SDK does not know. Read it again, or use the SDK version that matches the service.",
      cause,
    );
  }
}
