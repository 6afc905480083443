import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGunzip, type Gunzip } from "node:zlib";
import { type Actor, actorId } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { db } from "../../../db.ts";
import { isServiceError, ServiceError } from "../../../errors.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";

export type TransferRequest = { req: IncomingMessage; res: ServerResponse };

const gitServices = ["upload-pack", "receive-pack"] as const;
export type GitService = (typeof gitServices)[number];

export function gitServiceOf(text: string | undefined): GitService | undefined {
  return gitServices.find((service) => `git-${service}` === text);
}

export function protocolEnvironment(header: string | undefined): Record<string, string> {
  const version = header?.split(":").find((part) => /^version=[012]$/.test(part));
  return version ? { GIT_PROTOCOL: version } : {};
}

export const isVersion2 = (environment: Record<string, string>): boolean => environment.GIT_PROTOCOL === "version=2";

/** Git's responses are for one client, so they are not cached. */
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
  isCut(): boolean;
  /** Counts decompressed bytes. */
  receivedBytes(): number;
  /** Reads the rest without decompressing it (S137), because a client reads no response before it has sent everything. */
  drop(): Promise<void>;
};

/** Up to this many times the limit is read and dropped, so that the client reads the response. */
const DROPPED_TIMES = 2;

export function requireTransferHead(req: IncomingMessage, service: GitService, maxBytes: number): void {
  if (req.headers["content-type"] !== `application/x-git-${service}-request`) {
    throw new ServiceError("invalid_request", `Send application/x-git-${service}-request, as git does.`);
  }
  const encoding = req.headers["content-encoding"] ?? "identity";
  if (!/^(identity|(x-)?gzip)$/i.test(encoding))
    throw new ServiceError("invalid_request", "Send the body uncompressed or as gzip.");
  if (Number(req.headers["content-length"] ?? 0) > DROPPED_TIMES * maxBytes)
    throw new ServiceError("payload_too_large", tooLarge(maxBytes));
}

/** The stream ends after `maxBytes` decompressed bytes (S137). */
export function transferBody({ headers }: IncomingMessage, source: Readable, maxBytes: number): TransferBody {
  const gunzip = /gzip$/i.test(headers["content-encoding"] ?? "") ? inflated(source) : undefined;
  const stream = gunzip ?? source;
  let received = 0;
  const drop = async () => {
    if (gunzip && !gunzip.destroyed) {
      source.unpipe(gunzip);
      gunzip.destroy();
      let dropped = 0;
      source.on("data", (chunk: Uint8Array) => {
        dropped += chunk.length;
        if (dropped > DROPPED_TIMES * maxBytes) source.destroy();
      });
    }
    source.resume();
    await finished(source, { writable: false }).catch(() => undefined);
  };
  const { push } = stream;
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    const isCut = received > maxBytes;
    if (chunk instanceof Uint8Array) received += chunk.length;
    if (received <= maxBytes) return push.call(stream, chunk, encoding);
    if (received > DROPPED_TIMES * maxBytes) source.destroy();
    if (!isCut) push.call(stream, null);
    if (gunzip) void drop();
    return true;
  };
  return { stream, isCut: () => received > maxBytes, receivedBytes: () => received, drop };
}

function inflated(source: Readable): Gunzip {
  const gunzip = createGunzip();
  gunzip.on("error", () => undefined);
  source.once("close", () => {
    if (!source.readableEnded) gunzip.destroy();
  });
  return source.pipe(gunzip);
}

export function tooLarge(maxBytes: number): string {
  return `The request is larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB.`;
}

export const TOO_SLOW =
  "The request arrived too slowly: at least 1 KiB per second is required, or 64 KiB per second while others wait. Try again with a faster connection.";

export const tooSlow = (): ServiceError => new ServiceError("unavailable", TOO_SLOW, { retryAfterSeconds: 60 });

/** When git stops reading, the connection must stay open for the response. */
export function feed(body: TransferBody, stdin: Writable): void {
  const { stream } = body;
  stream.once("close", () => {
    if (!stream.readableEnded) stdin.destroy();
  });
  const drop = () => {
    stream.unpipe(stdin);
    void body.drop();
  };
  stdin.once("close", drop);
  stdin.once("error", drop);
  if (stream.readableEnded) stdin.end();
  else if (stream.destroyed) stdin.destroy();
  else stream.pipe(stdin);
}

/** A pull request's author may push to its ref without the right to write. */
export async function findTransferRepo(actor: Actor, name: RepoName, service: GitService): Promise<Repo> {
  if (service === "upload-pack") return findRepo(actor, name, "repo.read_content");
  try {
    return await findRepo(actor, name, "repo.write");
  } catch (error) {
    if (!isServiceError(error) || error.code !== "forbidden") throw error;
    const repo = await findRepo(actor, name, "repo.read_content");
    if (!(await hasPullRequest(actor, repo))) throw error;
    await requirePermission(actor, "discussion.write", repoResource(repo), { what: "Repository" });
    return repo;
  }
}

async function hasPullRequest(actor: Actor, { id }: Repo): Promise<boolean> {
  const authorId = actorId(actor);
  if (!authorId) return false;
  const where = { repoId: id, authorId, isPullRequest: true, status: { in: ["draft", "open"] } };
  return (await db().discussion.findFirst({ where, select: { id: true } })) !== null;
}
