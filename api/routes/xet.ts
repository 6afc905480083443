import { pipeline } from "node:stream/promises";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { z } from "@hono/zod-openapi";
import { xetTokenSchema } from "@keyhook/sdk";
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { stream } from "hono/streaming";
import { notFound, ServiceError } from "#core/errors.ts";
import { fairQueue } from "#core/fair-queue/fair-queue.ts";
import { sendInTurn } from "#core/fair-queue/send-in-turn.ts";
import { spoolRequest } from "#core/hub/git/smart-http/spool-request.ts";
import { openFetch } from "#core/hub/xet/fetch-url.ts";
import { findKnownXorbs } from "#core/hub/xet/find-known-xorbs.ts";
import { isHashText } from "#core/hub/xet/hashes.ts";
import { type Reconstruction, reconstructFile } from "#core/hub/xet/reconstruct-file.ts";
import { registerShard } from "#core/hub/xet/register-shard.ts";
import { SHARD_MAX_BYTES } from "#core/hub/xet/shard.ts";
import { storeXorb } from "#core/hub/xet/store-xorb.ts";
import { createXetToken, requireXetToken, type XetRight } from "#core/hub/xet/xet-token.ts";
import { log } from "#core/log.ts";
import { answerError } from "../answer-error.ts";
import { json, type Route } from "../define-route.ts";
import { gitActorOf } from "../git-request.ts";
import { families, type Operation, operationOf } from "../openapi/operation.ts";
import { TRANSFER, takesBody } from "../refuse-bad-input.ts";
import { isAsked } from "./commits/prepare-commit.ts";
import { bytesOf } from "./incoming-bytes.ts";
import { progressOf } from "./shard-progress.ts";

export const xetTokenRoutes = [
  defineTokenRoute("read", { operationId: "getRepoXetReadToken", action: "repo.read_content", actor: "anyone" }),
  defineTokenRoute("write", { operationId: "getRepoXetWriteToken", action: "repo.write", actor: "token" }),
];

/** Git's transfer agent for Xet uses Basic authentication, which `defineRoute` does not accept. */
function defineTokenRoute(right: XetRight, named: Pick<Operation, "operationId" | "action" | "actor">): Route {
  return (api) => {
    for (const address of families.TYPES) {
      const { type } = address;
      api.get(`/api/${address.path}/:owner/:name/xet-${right}-token/:rev`, async (c) => {
        const { owner, name, rev } = c.req.param();
        const asked = { right, revision: rev, isPullRequest: isAsked(c.req.query("create_pr")) };
        const answer = await createXetToken(await gitActorOf(c), { type, owner, name }, asked);
        return c.json(answer, 200, {
          "Cache-Control": "no-store",
          "X-Xet-Cas-Url": answer.casUrl,
          "X-Xet-Access-Token": answer.accessToken,
          "X-Xet-Token-Expiration": String(answer.exp),
        });
      });
      api.openAPIRegistry.registerPath({
        method: "get",
        path: `/api/${address.path}/{owner}/{name}/xet-${right}-token/{rev}`,
        ...operationOf({ ...named, summary: `Get a token to ${right} files with Xet` }, address),
        request: {
          params: z.object({ owner: z.string(), name: z.string(), rev: z.string() }),
          query: z.object({ create_pr: z.string().optional() }),
        },
        responses: { 200: json("The token, which is also in the headers", xetTokenSchema) },
      });
    }
  };
}

/** The Xet Protocol Specification 1.1, "CAS API", describes this API, so the OpenAPI document omits it. */
export const xetRoutes = new Hono<{ Bindings: HttpBindings }>();

const repoOf = (c: Context, right: XetRight) =>
  requireXetToken(c.req.header("Authorization"), { repoId: c.req.param("repo") ?? "", right });

function hashOf(c: Context): string {
  const hash = c.req.param("hash");
  if (!isHashText(hash)) throw new ServiceError("invalid_request", "A hash is 64 hexadecimal digits in lower case.");
  return hash;
}

const cas = "/xet/:repo";

// S53: the JavaScript client also uploads from pages of other sites. Cookies are never used here.
xetRoutes.use(
  `${cas}/*`,
  cors({
    origin: "*",
    allowHeaders: ["Authorization", "Content-Type", "Range", "X-Xet-Session-Id"],
    exposeHeaders: ["Content-Range", "X-Request-Id", "X-Error-Code", "X-Error-Message"],
    maxAge: 3600,
  }),
);

xetRoutes.post(`${cas}/v1/xorbs/default/:hash`, takesBody(TRANSFER), async (c: Context<{ Bindings: HttpBindings }>) => {
  const { repo, mayStill } = await repoOf(c, "write");
  const hash = hashOf(c);
  const size = Number(c.req.header("Content-Length") ?? Number.NaN);
  if (!Number.isSafeInteger(size)) throw new ServiceError("invalid_request", "Send the length of the xorb as Content-Length.");
  const content = bytesOf(c.env.incoming);
  return c.json({ was_inserted: await storeXorb(repo, { hash, size }, { content, mayStill }) });
});

/** Shards take slots, because the body of a shard stays on disk until the shard's entries are checked (S145). */
const shards = fairQueue({ name: "xet_shards", slots: 24, waitMaxMs: 90_000 });

async function takeShard(c: Context<{ Bindings: HttpBindings }>): Promise<void> {
  const { repo, mayStill } = await repoOf(c, "write");
  const { incoming: req, outgoing: res } = c.env;
  const shard = await spoolRequest({ req, res }, { maxBytes: SHARD_MAX_BYTES, within: repo.id, files: shards });
  try {
    await registerShard(repo, shard.stream, { signal: c.req.raw.signal, mustYield: shard.mustYield, mayStill });
  } finally {
    await shard.close();
  }
}

xetRoutes.post(`${cas}/v1/shards`, takesBody(TRANSFER), async (c: Context<{ Bindings: HttpBindings }>) => {
  await takeShard(c);
  return c.json({ result: 1 });
});

/** Like `/v1/shards`, but the response is never silent for long. */
xetRoutes.post(`${cas}/v2/shards`, takesBody(TRANSFER), async (c: Context<{ Bindings: HttpBindings }>) => {
  const lines = progressOf(takeShard(c), async (thrown) => {
    const answer = answerError(thrown, c);
    const { error: message } = (await answer.json()) as { error: string };
    return { type: "error", message, retryable: answer.status === 429 || answer.status >= 500 };
  });
  const first = await lines.next();
  c.header("Content-Type", "application/x-ndjson");
  return stream(c, async (out) => {
    for (let line = first; !line.done; line = await lines.next()) await out.write(`${JSON.stringify(line.value)}\n`);
  });
});

// The Python client uses one prefix, the JavaScript client the other.
for (const prefix of ["default-merkledb", "default"]) {
  xetRoutes.get(`${cas}/v1/chunks/${prefix}/:hash`, async (c) => {
    const { repo } = await repoOf(c, "read");
    const shard = await findKnownXorbs(repo.id, hashOf(c));
    if (!shard) throw notFound("Chunk");
    return c.body(Uint8Array.from(shard), 200, { "Content-Type": "application/x-xet-shard", "Cache-Control": "no-store" });
  });
}

for (const [version, toJson] of [
  ["v1", toJsonV1],
  ["v2", toJsonV2],
] as const) {
  xetRoutes.get(`${cas}/${version}/reconstructions/:hash`, async (c) => {
    const { repo } = await repoOf(c, "read");
    const found = await reconstructFile(repo.id, hashOf(c), c.req.header("Range"));
    if (found === "unsatisfiable") return c.body(null, 416);
    return c.json(toJson(found), 200, { "Cache-Control": "no-store" });
  });
}

function toJsonV1({ offset, terms, fetches }: Reconstruction) {
  const ofXorb = (some: NonNullable<ReturnType<typeof fetches.get>>) =>
    some.map(({ chunks, bytes, url }) => ({ range: chunks, url, url_range: bytes }));
  return {
    offset_into_first_range: offset,
    terms: terms.map(termJson),
    fetch_info: Object.fromEntries([...fetches].map(([hash, some]) => [hash, ofXorb(some)])),
  };
}

/** In this version of the API, a URL may cover several ranges. Each of our URLs covers one. */
function toJsonV2({ offset, terms, fetches }: Reconstruction) {
  const ofXorb = (some: NonNullable<ReturnType<typeof fetches.get>>) =>
    some.map(({ chunks, bytes, url }) => ({ url, ranges: [{ chunks, bytes }] }));
  return {
    offset_into_first_range: offset,
    terms: terms.map(termJson),
    xorbs: Object.fromEntries([...fetches].map(([hash, some]) => [hash, ofXorb(some)])),
  };
}

const termJson = ({ hash, chunks, bytes }: Reconstruction["terms"][number]) => ({ hash, range: chunks, unpacked_length: bytes });

xetRoutes.get(`${cas}/xorbs/:hash`, async (c) => {
  const query = (name: string) => c.req.query(name) ?? "";
  const asked = { bytes: query("bytes"), expires: query("expires"), signature: query("signature") };
  const address = { repoId: c.req.param("repo"), hash: c.req.param("hash"), ...asked };
  const { range, stream: bytes } = await openFetch(address, c.req.header("Range"));
  const { outgoing } = c.env as HttpBindings;
  outgoing.writeHead(206, {
    "Content-Type": "application/octet-stream",
    "Content-Length": range.end - range.start + 1,
    "Content-Range": `bytes ${range.start}-${range.end}/*`,
    "Cache-Control": "private",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    // This response bypasses the router, which would have added the header.
    "Access-Control-Allow-Origin": "*",
  });
  await pipeline([bytes, ...sendInTurn(), outgoing]).catch((err: unknown) => log().debug({ err }, "a download ended half-way"));
  return RESPONSE_ALREADY_SENT;
});
