import { newFileSchema } from "@keyhook/sdk";
import { z } from "zod";
import { invalidRequest, type ServiceError } from "#core/errors.ts";
import { OPERATIONS_MAX, type Operation } from "#core/hub/git/write/collect-changes.ts";
import { shownPath } from "#core/hub/git/write/parse-path.ts";
import { listOf } from "../../refuse-bad-input.ts";
import type { Line } from "./read-ndjson.ts";

const headerSchema = z.object({
  summary: z.string(),
  description: z.string().nullish(),
  parentCommit: z.string().nullish(),
});
export type CommitHeader = z.infer<typeof headerSchema>;

const lfsFile = z.object({
  path: z.string(),
  algo: z.literal("sha256").nullish(),
  oid: z.string(),
  size: z.number().int().nonnegative().nullish(),
});
const deleted = z.object({ path: z.string() });
const copyFile = z.object({ path: z.string(), srcPath: z.string(), srcRevision: z.string().nullish() });

const lineSchema = z.discriminatedUnion("key", [
  z.object({ key: z.literal("file"), value: newFileSchema }),
  z.object({ key: z.literal("lfsFile"), value: lfsFile }),
  z.object({ key: z.enum(["deletedFile", "deletedFolder", "deletedEntry"]), value: deleted }),
  z.object({ key: z.literal("copyFile"), value: copyFile }),
]);
type CommitLine = z.infer<typeof lineSchema>;

/** Older clients send a whole commit in one object. */
const wholeSchema = headerSchema.extend({
  files: listOf(newFileSchema, { max: OPERATIONS_MAX, of: "files" }).nullish(),
  lfsFiles: listOf(lfsFile, { max: OPERATIONS_MAX, of: "files" }).nullish(),
  deletedFiles: listOf(deleted, { max: OPERATIONS_MAX, of: "files" }).nullish(),
  deletedFolders: listOf(deleted, { max: OPERATIONS_MAX, of: "files" }).nullish(),
  deletedEntries: listOf(deleted, { max: OPERATIONS_MAX, of: "files" }).nullish(),
});

export function parseHeader(line: Line | undefined): CommitHeader {
  const result = z.object({ key: z.literal("header"), value: headerSchema }).safeParse(line?.value);
  if (result.success) return result.data.value;
  throw invalidRequest('The first line must be the header: {"key":"header","value":{"summary":…}}.');
}

export async function* parseOperations(lines: AsyncIterable<Line>): AsyncGenerator<Operation> {
  for await (const { value, number } of lines) {
    const result = lineSchema.safeParse(value);
    if (!result.success) throw notUnderstood(`Line ${number}`, result.error);
    yield operationOf(result.data);
  }
}

export function parseWhole(value: unknown): { header: CommitHeader; operations: Iterable<Operation> } {
  const result = wholeSchema.safeParse(value);
  if (!result.success) throw notUnderstood("The body", result.error);
  const { files, lfsFiles, deletedFiles, deletedFolders, deletedEntries, ...header } = result.data;
  const lines: CommitLine[] = [
    ...(deletedFiles ?? []).map((value) => ({ key: "deletedFile" as const, value })),
    ...(deletedFolders ?? []).map((value) => ({ key: "deletedFolder" as const, value })),
    ...(deletedEntries ?? []).map((value) => ({ key: "deletedEntry" as const, value })),
    ...(files ?? []).map((value) => ({ key: "file" as const, value })),
    ...(lfsFiles ?? []).map((value) => ({ key: "lfsFile" as const, value })),
  ];
  return { header, operations: lines.map(operationOf) };
}

function operationOf(line: CommitLine): Operation {
  const { path } = line.value;
  switch (line.key) {
    case "file":
      return { type: "file", path, content: decodeFile(line.value) };
    case "lfsFile": {
      const { oid, size } = line.value;
      return { type: "lfsFile", path, oid, ...(typeof size === "number" && { sizeBytes: size }) };
    }
    case "copyFile": {
      const { srcPath, srcRevision } = line.value;
      return { type: "copyFile", path, from: { path: srcPath, ...(srcRevision && { revision: srcRevision }) } };
    }
    case "deletedFile":
      // The public hub also deletes folders with this operation, and scripts rely on that.
      return { type: "deletedEntry", path };
    default:
      return { type: line.key, path };
  }
}

export function decodeFile({ path, content, encoding }: z.infer<typeof newFileSchema>): Uint8Array {
  if (encoding === "base64") {
    const bytes = Buffer.from(content, "base64");
    // Node skips invalid base64 without an error, so a truncated file would look complete.
    if (bytes.toString("base64") === content || isBase64(content)) return bytes;
    throw invalidRequest(`The content of ${shownPath(path)} is not base64.`);
  }
  if (!content.isWellFormed()) throw invalidRequest(`The content of ${shownPath(path)} is not valid text: send it as base64.`);
  return Buffer.from(content, "utf8");
}

/** RFC 4648 §4, with or without padding. */
const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.replace(/={0,2}$/, "").length % 4 !== 1;

function notUnderstood(where: string, error: z.ZodError): ServiceError {
  const [issue] = error.issues;
  const field = issue?.path.join(".") ?? "";
  return invalidRequest(`${where} is invalid: ${field ? `${field}: ` : ""}${issue?.message ?? ""}.`);
}
