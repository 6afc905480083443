import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Writable } from "node:stream";
import { createGunzip } from "node:zlib";
import { ServiceError } from "../../../errors.ts";

/** A request of git's own, with Node's streams: what goes through them is not held in memory. */
export type TransferRequest = { req: IncomingMessage; res: ServerResponse };

export const gitServices = ["upload-pack", "receive-pack"] as const;
export type GitService = (typeof gitServices)[number];

/** The service of `?service=git-upload-pack`. */
export function gitServiceOf(text: string | undefined): GitService | undefined {
  return gitServices.find((service) => `git-${service}` === text);
}

/** `GIT_PROTOCOL` for a fetch: the version that the client speaks, and nothing else of what it says (gitprotocol-v2). */
export function protocolEnvironment(header: string | undefined): Record<string, string> {
  const version = header?.split(":").find((part) => /^version=[012]$/.test(part));
  return version ? { GIT_PROTOCOL: version } : {};
}

export const isVersion2 = (environment: Record<string, string>): boolean => environment.GIT_PROTOCOL === "version=2";

/** Answers to git are for the one who asked, and for now. */
export function answerHead(res: ServerResponse, contentType: string): void {
  res.writeHead(200, {
    "Content-Type": contentType,
    "Cache-Control": "no-cache, max-age=0, must-revalidate",
    Expires: "Fri, 01 Jan 1980 00:00:00 GMT",
    Pragma: "no-cache",
  });
}

export type TransferBody = {
  stream: Readable;
  /** Whether there was more than may be; the stream has ended at that point. */
  isCut(): boolean;
  /** So far, decompressed. */
  receivedBytes(): number;
};

/** How many times as much as may be is taken in, and dropped, for the sake of an answer that is heard. */
const DROPPED_TIMES = 2;

/**
 * Looks at the head of a request with a body.
 * @throws ServiceError `invalid_request` for a type or an encoding that is not git's; `payload_too_large` for what says so itself
 */
export function requireTransferHead(req: IncomingMessage, service: GitService, maxBytes: number): void {
  if (req.headers["content-type"] !== `application/x-git-${service}-request`) {
    throw new ServiceError("invalid_request", `Send application/x-git-${service}-request, as git does.`);
  }
  const encoding = req.headers["content-encoding"] ?? "identity";
  if (!/^(identity|(x-)?gzip)$/i.test(encoding)) throw new ServiceError("invalid_request", "Send the body as it is, or as gzip.");
  if (Number(req.headers["content-length"] ?? 0) > DROPPED_TIMES * maxBytes)
    throw new ServiceError("payload_too_large", tooLarge(maxBytes));
}

/**
 * The body of a request as git wrote it: clients compress what they ask for. Past `maxBytes`, decompressed, it ends (S137). What the
 * client goes on sending is dropped, since a client that cannot send hears no answer; but not for ever.
 * @param source where its bytes come from
 */
export function transferBody({ headers }: IncomingMessage, source: Readable, maxBytes: number): TransferBody {
  const stream = /gzip$/i.test(headers["content-encoding"] ?? "") ? inflated(source) : source;
  let received = 0;
  const { push } = stream;
  // Counted where it comes in, so that the stream can be read in any way.
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    const isCut = received > maxBytes;
    if (chunk instanceof Uint8Array) received += chunk.length;
    if (received <= maxBytes) return push.call(stream, chunk, encoding);
    if (received > DROPPED_TIMES * maxBytes) source.destroy();
    if (!isCut) push.call(stream, null);
    return true;
  };
  return { stream, isCut: () => received > maxBytes, receivedBytes: () => received };
}

function inflated(source: Readable): Readable {
  const gunzip = createGunzip();
  // Whatever is wrong with it, what reads it sees an end.
  gunzip.on("error", () => undefined);
  source.once("close", () => {
    if (!source.readableEnded) gunzip.destroy();
  });
  return source.pipe(gunzip);
}

export function tooLarge(maxBytes: number): string {
  return `That is larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB.`;
}

export const TOO_SLOW =
  "That came too slowly: 1 KiB a second is needed, and 64 KiB a second while others wait. Try again over a better connection.";

export const tooSlow = (): ServiceError => new ServiceError("unavailable", TOO_SLOW, { retryAfterSeconds: 60 });

/**
 * Sends a body to a process. A client that goes away ends what the process reads; a process that reads no more, since it has heard
 * enough, does not end the client's connection, over which its answer goes.
 */
export function feed(stream: Readable, stdin: Writable): void {
  stream.once("close", () => {
    if (!stream.readableEnded) stdin.destroy();
  });
  const drop = () => {
    stream.unpipe(stdin);
    stream.resume();
  };
  stdin.once("close", drop);
  stdin.once("error", drop);
  if (stream.readableEnded) stdin.end();
  else if (stream.destroyed) stdin.destroy();
  else stream.pipe(stdin);
}
