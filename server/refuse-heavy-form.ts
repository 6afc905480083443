import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { isServiceError } from "#core/errors.ts";
import { countWork } from "#core/fair-queue/party.ts";
import type { Failure } from "#core/log.ts";
import { refuseHeavyJson } from "../api/refuse-bad-input.ts";

/** An upload has at most 1,000 files. */
const PARTS_MAX = 5_000;
const VALUES_MAX = 5_000;

const FORM_PER_MS = { bytes: 20_000, items: 50 };

const MULTIPART = /^multipart\/form-data; ?boundary=([\w'+.-]{1,70})$/i;
/**
 * The beginning of a part, as browsers write it. Anything else is refused, so that no other parser can read a part differently: busboy
 * obeys a charset of a text and a backslash in a name, and takes a file for a text if it has neither a name nor the type that browsers
 * send. A file's name may contain anything.
 */
const PART =
  /^\r\nContent-Disposition: form-data; name="([^"\r\n\\]+)"(; filename="[^"\r\n]+"(?:\r\nContent-Type: [^\r\n]*)?|; filename=""\r\nContent-Type: application\/octet-stream)?\r\n\r\n/i;

const unreadable: Failure = {
  status: 400,
  error: "unreadable_form",
  description: "Send the form as browsers do: as multipart/form-data, with one field in each part",
};
const heavy: Failure = {
  status: 400,
  error: "invalid_request",
  description: `The form has too many fields or values. Send at most ${PARTS_MAX.toLocaleString("en")} of each`,
};

/**
 * Reads the form of a request, and puts it back for Next. React decodes an action's arguments before it calls the action, so a
 * small form could block the process for a long time (S138).
 * @param over aborts when the form is larger than its limit, because the rest does not arrive
 * @returns why the form is refused, or undefined
 */
export async function refuseHeavyForm(req: IncomingMessage, over: AbortSignal): Promise<Failure | undefined> {
  const type = req.headers["content-type"] ?? "";
  const isCall = req.headers["next-action"] !== undefined;
  const isMultipart = /^multipart\//i.test(type);
  if (req.method !== "POST" || !(isCall || isMultipart)) return undefined;
  const body = await readAhead(req, over);
  countWork(body.length / FORM_PER_MS.bytes);
  const pieces = isMultipart ? split(body, type) : [];
  if (pieces && pieces.length > PARTS_MAX) return heavy;
  const parts = pieces?.map(readPart);
  if (!parts?.every((part) => part !== undefined)) return unreadable;
  const models = parts.filter((part) => isModel(part, isCall)).map(({ content }) => Buffer.from(content, "latin1"));
  const values = countValues(isMultipart ? models : [body]);
  if (values === undefined) return heavy;
  countWork((parts.length + values) / FORM_PER_MS.items);
  return undefined;
}

/**
 * The next reader gets the body again. A part of it may have arrived before this is called, because the request may have waited
 * for its turn.
 */
async function readAhead(req: IncomingMessage, over: AbortSignal): Promise<Buffer> {
  const held: Buffer[] = [];
  for (;;) {
    const chunk: Buffer | null = req.read();
    if (chunk) held.push(chunk);
    else if (req.complete || req.destroyed || over.aborted) break;
    else await once(req, "readable", { signal: over }).catch(() => undefined); // the client left
  }
  const body = Buffer.concat(held);
  // Node announces the end of a stream in the next tick, unless there is something to read again by then.
  req.unshift(body);
  // Next's Request accepts no stream of which something was read.
  Object.defineProperty(req, "readableDidRead", { value: false });
  return body;
}

/**
 * Each byte becomes a character. Splitting stops above the limit.
 * @returns undefined if this is not a complete form
 */
function split(body: Buffer, type: string): string[] | undefined {
  const [, boundary] = MULTIPART.exec(type) ?? [];
  if (boundary === undefined) return undefined;
  const [before, ...parts] = `\r\n${body.toString("latin1")}`.split(`\r\n--${boundary}`, PARTS_MAX + 3);
  if (parts.length > PARTS_MAX + 1) return parts;
  const end = parts.pop();
  return before === "" && (end === "--" || end === "--\r\n") ? parts : undefined;
}

type Part = { name: string; isFile: boolean; content: string };

function readPart(part: string): Part | undefined {
  const [head, name = "", file] = PART.exec(part) ?? [];
  return head === undefined ? undefined : { name, isFile: file !== undefined, content: part.slice(head.length) };
}

/** React reads these parts as values. A name may follow a byte order mark, which undici drops. */
const isModel = ({ name, isFile }: Part, isCall: boolean): boolean =>
  !isFile && (isCall ? !name.startsWith("_") : name.includes("$ACTION_"));

function countValues(models: readonly Buffer[]): number | undefined {
  let values = 0;
  try {
    // The parts are read one by one, so that an open quote in one part cannot hide the next.
    for (const json of models) values += refuseHeavyJson(json, { valuesMax: VALUES_MAX - values, uncheckedBytes: 0 }).values;
    return values;
  } catch (error) {
    if (isServiceError(error)) return undefined;
    throw error;
  }
}
