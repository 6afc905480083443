import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Writable } from "node:stream";
import { createGunzip } from "node:zlib";
import { ServiceError } from "../../../errors.ts";

/** A request of git's own, with Node's streams: their content is not held in memory. */
export type TransferRequest = { req: IncomingMessage; res: ServerResponse };

export const gitServices = ["upload-pack", "receive-pack"] as const;
export type GitService = (typeof gitServices)[number];

/** The service of `?service=git-upload-pack`. */
export function gitServiceOf(text: string | undefined): GitService | undefined {
  return gitServices.find((service) => `git-${service}` === text);
}

/** `GIT_PROTOCOL` for a fetch: the client's protocol version, and nothing else of its header (gitprotocol-v2). */
export function protocolEnvironment(header: string | undefined): Record<string, string> {
  const version = header?.split(":").find((part) => /^version=[012]$/.test(part));
  return version ? { GIT_PROTOCOL: version } : {};
}

export const isVersion2 = (environment: Record<string, string>): boolean => environment.GIT_PROTOCOL === "version=2";

/** Responses to git are for this client only, and must not be cached. */
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
  /** Whether it exceeded the limit; the stream ended at that point. */
  isCut(): boolean;
  /** Received so far, decompressed. */
  receivedBytes(): number;
};

/** How many times the limit is read and dropped, so that the client reads the response. */
const DROPPED_TIMES = 2;

/**
 * Checks the headers of a request with a body.
 * @throws ServiceError `invalid_request` for a type or an encoding that is not git's; `payload_too_large` if its own length is too large
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
 * The body of a request as git wrote it: clients compress it. It ends after `maxBytes`, decompressed (S137). The rest is dropped, since a
 * client that cannot send reads no response; but not for ever.
 * @param source where its bytes come from
 */
export function transferBody({ headers }: IncomingMessage, source: Readable, maxBytes: number): TransferBody {
  const stream = /gzip$/i.test(headers["content-encoding"] ?? "") ? inflated(source) : source;
  let received = 0;
  const { push } = stream;
  // Counted on arrival, so that the stream can be read in any way.
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
  // Whatever is wrong with it, its reader sees an end.
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
 * Sends a body to a process. If the client disconnects, the process's input ends; if the process stops reading because it has read enough,
 * the client's connection stays open for the response.
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
