import type { Context } from "hono";
import { ServiceError } from "#core/errors.ts";
import { countAgainst } from "#core/fair-queue/party.ts";
import type { Challenge } from "#core/oauth/resources/resource-servers.ts";
import { InvalidDpopProof } from "#core/oauth/tokens/dpop-proof.ts";
import { type Bearer, type CiJob, findBearer, findCiJob, type Presentation } from "#core/oauth/tokens/find-bearer.ts";

// RFC 6750 §2.1, RFC 9449 §7.1. The scheme is case-insensitive (C4 in docs/specification/existing-clients.md).
const AUTHORIZATION = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*)$/i;
const INVALID = "Invalid credentials in Authorization header";

/** @throws ServiceError `unauthorized` with the message that existing clients look for, `forbidden` for a job's token */
export async function requireBearer(c: Context): Promise<Bearer> {
  const holder = await requireHolder(c);
  if (holder.kind !== "job") return holder;
  throw new ServiceError(
    "forbidden",
    "This token belongs to a CI job: it can read and write only the repository that trusts the job.",
  );
}

export function requireHolder(c: Context): Promise<Bearer | ({ kind: "job" } & CiJob)> {
  // A DPoP proof is valid only once, so the holder is kept: only briefly, because the token may be revoked (S114).
  const known: Known | undefined = c.get("holder");
  if (known && performance.now() - known.at < TRUST_MS) return known.holder;
  return lookUp(c, known?.isProven ?? false);
}

type Known = { holder: ReturnType<typeof findHolder>; at: number; isProven: boolean };

const TRUST_MS = 1_000;

function lookUp(c: Context, isProven: boolean): ReturnType<typeof findHolder> {
  const known: Known = { holder: findHolder(c, { isProven }), at: performance.now(), isProven };
  c.set("holder", known);
  known.holder.then(
    () => {
      known.isProven = true;
    },
    () => undefined,
  );
  return known.holder;
}

/** Looks the actor up again after the first call, because the token may have been revoked (S112, S114). */
export function repeatableLookup<T>(c: Context, find: () => Promise<T>): () => Promise<T> {
  let isFirst = true;
  return () => {
    const known: Known | undefined = c.get("holder");
    if (known && !isFirst) c.set("holder", { ...known, at: Number.NEGATIVE_INFINITY });
    isFirst = false;
    return find();
  };
}

/** @param options.isProven whether the proof of possession was verified when the request arrived */
async function findHolder(c: Context, { isProven = false } = {}): Promise<Bearer | ({ kind: "job" } & CiJob)> {
  const header = c.req.header("Authorization");
  if (!header) throw new ServiceError("unauthorized", "Invalid username or password.");
  const [, scheme = "", token] = AUTHORIZATION.exec(header) ?? [];
  if (token === undefined) throw new ServiceError("unauthorized", INVALID);
  const job = scheme.toLowerCase() === "bearer" ? await findCiJob(token) : undefined;
  if (job) {
    countAgainst({ kind: "publisher", trustedById: job.trustedById });
    c.set("auditToken", { type: "ci", id: job.id, name: job.description, role: "write", last4: token.slice(-4) });
    return { ...job, kind: "job" };
  }
  const bearer = await findBearer(token, presentationOf(c, scheme, isProven)).catch((cause) => {
    if (cause instanceof InvalidDpopProof)
      throw new ServiceError("unauthorized", `Invalid DPoP proof: ${cause.message}`, { cause });
    throw cause;
  });
  if (!bearer) throw new ServiceError("unauthorized", INVALID);
  countAgainst({ kind: "token", userId: bearer.account.id });
  c.set("auditToken", bearer.auditToken);
  return bearer;
}

function presentationOf(c: Context, scheme: string, isProven: boolean): Presentation {
  if (scheme.toLowerCase() === "bearer") return { scheme: "bearer" };
  if (isProven) return { scheme: "dpop", isProven };
  return { scheme: "dpop", proof: c.req.header("DPoP") ?? "", method: c.req.method, path: new URL(c.req.url).pathname };
}

export function challengeOf(c: Context, { cause }: Error): Challenge {
  const header = c.req.header("Authorization");
  if (!header) return {};
  const scheme = /^dpop\b/i.test(header) ? "DPoP" : "Bearer";
  return { scheme, error: cause instanceof InvalidDpopProof ? "invalid_dpop_proof" : "invalid_token" };
}
