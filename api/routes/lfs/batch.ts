import type { Context } from "hono";
import { z } from "zod";
import { ServiceError } from "#core/errors.ts";
import { answerLfsBatch, OBJECTS_MAX } from "#core/hub/lfs/transfer/answer-batch.ts";
import { asChallenge, gitActorOf } from "../../git-actor.ts";
import { isForm } from "../../refuse-bad-input.ts";
import { repoNameOf } from "../../repo-name.ts";
import { listOf } from "../open-api.ts";
import { lfsBody } from "./answer-lfs-error.ts";

/** Git LFS knows half a dozen. */
const TRANSFERS_MAX = 100;

const batch = z.object({
  operation: z.enum(["download", "upload"]),
  transfers: listOf(z.string(), { max: TRANSFERS_MAX, of: "transfers" }).nullish(),
  hash_algo: z.string().nullish(),
  /** The branch it is for. Whoever may write to a repository may write to all of them. */
  ref: z.object({ name: z.string() }).nullish(),
  // Each object gets its own result, whatever it is.
  objects: listOf(z.object({ oid: z.unknown(), size: z.unknown() }), { max: OBJECTS_MAX, of: "objects" }),
});

/** `POST …/info/lfs/objects/batch` */
export async function answerBatch(c: Context): Promise<Response> {
  const actor = await gitActorOf(c);
  const { operation, transfers, hash_algo, objects } = await readJson(c, batch);
  try {
    const answer = await answerLfsBatch(actor, repoNameOf(c.req.param()), {
      operation,
      transfers: transfers ?? [],
      ...(hash_algo && { hashAlgorithm: hash_algo }),
      objects: objects as { oid: unknown; size: unknown }[],
    });
    return lfsBody(c, answer);
  } catch (error) {
    throw asChallenge(actor, error);
  }
}

/** @throws ServiceError `invalid_request`, naming what is wrong */
export async function readJson<Shape extends z.ZodType>(c: Context, shape: Shape): Promise<z.infer<Shape>> {
  // A form is not checked before it is parsed (refuse-bad-input.ts). It is not read either, so nothing may follow on this connection.
  if (isForm(c)) {
    c.header("Connection", "close");
    throw new ServiceError("invalid_request", "Send the body as application/vnd.git-lfs+json.");
  }
  const body: unknown = await c.req.json().catch((cause: unknown) => {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ServiceError("invalid_request", "The body is not JSON.", { cause });
  });
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ServiceError("invalid_request", `${issue?.path.join(".") || "The body"}: ${issue?.message ?? "not understood"}.`);
}
