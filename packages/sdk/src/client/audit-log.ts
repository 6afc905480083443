import { z } from "zod";
import { ApiError } from "./api-error.ts";
import type { Transport } from "./transport.ts";
import { type Asked, part } from "./whose.ts";

const nullable = z.string().nullish();
const eventSchema = z.looseObject({
  _id: z.string(),
  createdAt: z.string(),
  /** `oauth_app.create` */
  type: z.string(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()),
  ip: nullable,
  userAgent: nullable,
  author: z.looseObject({ type: z.string(), _id: z.string().optional(), user: nullable }),
  token: z.looseObject({ type: z.string(), id: z.string() }).nullish(),
  oauth: z.looseObject({ clientId: z.string(), name: nullable }).nullish(),
});
export type AuditLogEntry = z.infer<typeof eventSchema>;

export type AuditLogQuery = Asked & {
  /** `author:`, `ip:`, `type:` (`type:oauth_app.*` for all of a kind), `since:`, `until:` and words. */
  q?: string;
};

/** Of an organization, for its administrators: the token takes the scope `manage-repos`. At most 100,000 entries, the newest first. */
export function auditLogOf({ bytes }: Transport) {
  const file = (organization: string, { q, format, signal }: AuditLogQuery & { format: "json" | "jsonl" | "csv" }) =>
    bytes(`/api/organizations/${part(organization)}/audit-log/export`, { query: { q, format }, signal });

  return {
    /** The file as it comes, piece by piece. */
    export: (organization: string, { format = "jsonl", ...query }: AuditLogQuery & { format?: "json" | "jsonl" | "csv" } = {}) =>
      file(organization, { ...query, format }),

    /** Entry by entry. */
    async *entries(organization: string, query: AuditLogQuery = {}): AsyncGenerator<AuditLogEntry> {
      for await (const line of linesOf(file(organization, { ...query, format: "jsonl" }))) yield readEntry(line);
    },
  };
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun = "";
  for await (const piece of bytes) {
    const lines = (begun + decoder.decode(piece, { stream: true })).split("\n");
    begun = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
  }
  if (begun !== "") yield begun;
}

function readEntry(line: string): AuditLogEntry {
  try {
    return eventSchema.parse(JSON.parse(line));
  } catch (cause) {
    const message = "The audit log broke off, or has an entry in a form that is not known. Ask for it again.";
    throw new ApiError(message, { status: 200, code: "unexpected_answer", cause });
  }
}
