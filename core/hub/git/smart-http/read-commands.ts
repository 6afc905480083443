import type { Readable } from "node:stream";
import { ServiceError } from "../../../errors.ts";
import { bodyHolder, SMALL_BODY_BYTES } from "../../../fair-queue/body-budget.ts";
import type { RefChange } from "../refs/ref-name.ts";
import { FLUSH, MalformedPkt, PktStream, pktLine } from "./pkt-line.ts";

const COMMANDS_MAX = 10_000;
const HEAD_MAX_BYTES = 4 * 1024 * 1024;
/** Bytes of memory for each byte of a command with a short name, which takes the most. */
const MEMORY_PER_BYTE = 4;
const PUSH_OPTIONS_MAX = 100;
const PUSH_OPTIONS_MAX_BYTES = 64 * 1024;
const COMMAND = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\0\n]+)$/;
const SHALLOW = /^shallow [0-9a-f]{40}$/;
const ABSENT = "0".repeat(40);

export type Command = RefChange & {
  /** As `latin1`, because the response repeats the sender's bytes. */
  rawRef: string;
};

export type PushHead = {
  commands: Command[];
  capabilities: Set<string>;
  shallow: string[];
  pushOptions: string[];
  rest: Buffer;
};

/** Long commands use the shared memory for bodies, because the push has no slot yet. */
export async function readCommands(stream: Readable): Promise<PushHead> {
  const hold = bodyHolder();
  try {
    return await read(new PktStream(stream), hold);
  } catch (cause) {
    if (cause instanceof MalformedPkt)
      throw new ServiceError("invalid_request", `This is not a push: ${cause.message}.`, { cause });
    throw cause;
  }
}

async function read(stream: PktStream, hold: (bytes: number) => void): Promise<PushHead> {
  const head: PushHead = { commands: [], capabilities: new Set(), shallow: [], pushOptions: [], rest: stream.rest };
  let [bytes, heldBytes] = [0, SMALL_BODY_BYTES];
  const refs = new Set<string>();
  for (let line = await stream.next(); line; line = await stream.next()) {
    bytes += line.length;
    if (bytes > HEAD_MAX_BYTES || head.commands.length >= COMMANDS_MAX) {
      throw new ServiceError(
        "payload_too_large",
        `A push may change at most ${COMMANDS_MAX.toLocaleString("en")} refs. Split them into several pushes.`,
      );
    }
    for (; heldBytes < bytes; heldBytes += SMALL_BODY_BYTES) hold(SMALL_BODY_BYTES * MEMORY_PER_BYTE);
    const text = line.toString("latin1").replace(/\n$/, "");
    if (SHALLOW.test(text)) {
      head.shallow.push(text);
      continue;
    }
    const [command = "", capabilities = ""] = text.split("\0", 2);
    if (head.commands.length === 0) head.capabilities = new Set(capabilities.split(" ").filter(Boolean));
    const parsed = parseCommand(command);
    if (refs.has(parsed.rawRef)) throw new MalformedPkt("a ref is named twice");
    refs.add(parsed.rawRef);
    head.commands.push(parsed);
  }
  if (head.capabilities.has("push-options")) head.pushOptions = await readPushOptions(stream);
  head.rest = stream.rest;
  return head;
}

function parseCommand(text: string): Command {
  const [, oldId, newId, rawRef] = COMMAND.exec(text) ?? [];
  if (oldId === undefined || newId === undefined || rawRef === undefined) throw new MalformedPkt("a command is malformed");
  const sha = (id: string) => (id === ABSENT ? null : id);
  return { ref: Buffer.from(rawRef, "latin1").toString("utf8"), rawRef, oldSha: sha(oldId), newSha: sha(newId) };
}

async function readPushOptions(stream: PktStream): Promise<string[]> {
  const options: string[] = [];
  let bytes = 0;
  for (let line = await stream.next(); line; line = await stream.next()) {
    bytes += line.length;
    if (options.length >= PUSH_OPTIONS_MAX || bytes > PUSH_OPTIONS_MAX_BYTES) {
      throw new ServiceError("payload_too_large", `A push can have at most ${PUSH_OPTIONS_MAX} options.`);
    }
    const text = line.toString("latin1").replace(/\n$/, "");
    if (/[\0\n]/.test(text)) throw new MalformedPkt("an option is malformed");
    options.push(text);
  }
  return options;
}

/** Only these capabilities of the client are passed to git. This service handles the others. */
const PASSED_ON = /^(atomic|quiet|push-options|object-format=sha1)$/;

export function requestOf({ capabilities, shallow, pushOptions }: PushHead, commands: readonly Command[]): Buffer {
  const asked = ["report-status", "side-band-64k", ...[...capabilities].filter((each) => PASSED_ON.test(each))].join(" ");
  const lines = commands.map(({ oldSha, newSha, rawRef }, index) =>
    Buffer.from(`${oldSha ?? ABSENT} ${newSha ?? ABSENT} ${rawRef}${index === 0 ? `\0 ${asked}` : ""}`, "latin1"),
  );
  const options = capabilities.has("push-options")
    ? [...pushOptions.map((each) => pktLine(Buffer.from(each, "latin1"))), FLUSH]
    : [];
  return Buffer.concat([...shallow.map((line) => pktLine(line)), ...lines.map(pktLine), FLUSH, ...options]);
}
