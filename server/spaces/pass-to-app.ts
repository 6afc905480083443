import { Agent, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isServiceError } from "#core/errors.ts";
import { FairQueue } from "#core/fair-queue/fair-queue.ts";
import { currentParty } from "#core/fair-queue/party.ts";
import { watchPace } from "#core/http/pace.ts";
import { requestContext } from "#core/log.ts";
import { noteRequest, wakeSpace } from "#core/spaces/controls/wake-space.ts";
import { answerHeaders, requestHeaders } from "#core/spaces/door/app-headers.ts";
import { awaitRuntime } from "#core/spaces/door/await-runtime.ts";
import type { FoundApp } from "#core/spaces/door/find-app.ts";
import { type Passed, type Passing, passOn, passOnUpgrade } from "#core/spaces/gateway/proxy.ts";
import { GATEWAY_ANSWER_HEADER, GATEWAY_KEY_HEADER, gatewayKey, PARTY_HEADER } from "#core/spaces/gateway/start-gateway.ts";
import type { SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { isComing, SPACES_OFF } from "#core/spaces/stages.ts";
import type { AppFailure } from "./send-app-failure.ts";

/** Shorter than the 15 seconds of a webhook's delivery (S120). */
const WAKE_MS = 10_000;
const RETRY_AFTER_SECONDS = 3;
/** The pause before another try if nothing listens at the address, because the worker may just have ended. */
const AGAIN_MS = 200;

/** One process offers half of what the Space's gateway accepts. Most visitors of a public Space are anonymous. */
const SLOTS = { slots: 128, anonymousShare: 0.75, waitMaxMs: 3_000 };

type Slots = Record<"requests" | "sockets", FairQueue>;
/** After this time, a WebSocket may have to give its slot to others that wait (S137). */
const SOCKET_KEPT_MS = 60_000;
const slotsOf = new Map<string, Slots>();

/** The slots are shared fairly, so that nobody can take a Space away from all others (S137). */
async function takeSlot(repoId: string, kind: keyof Slots, connection: ServerResponse | Duplex): Promise<AppFailure | undefined> {
  const slots = slotsOf.get(repoId) ?? {
    requests: new FairQueue({ name: "space_requests", ...SLOTS }),
    sockets: new FairQueue({ name: "space_sockets", ...SLOTS }),
  };
  slotsOf.set(repoId, slots);
  try {
    await slots[kind].takeUntilAnswered();
    return undefined;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return { ...busy };
  } finally {
    const forget = () => {
      const isInUse = Object.values(slots).some(({ counts }) => counts.taken > 0 || counts.waiting > 0);
      if (!isInUse && slotsOf.get(repoId) === slots) slotsOf.delete(repoId);
    };
    if (connection.closed) forget();
    else connection.once("close", forget);
  }
}

const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });

type App = Extract<FoundApp, { kind: "app" }>;
type Sent = { path: string; ip: string | null; requestId: string };

export async function passToApp(
  req: IncomingMessage,
  res: ServerResponse,
  app: App,
  sent: Sent,
): Promise<AppFailure | undefined> {
  const full = await takeSlot(app.repo.id, "requests", res);
  if (full) return full;
  const leaving = new AbortController();
  res.once("close", () => leaving.abort());
  return untilAnswered(app, leaving.signal, async (address) => {
    let why = "";
    const passing = passingTo(req, app, address, sent, (reason) => {
      why = reason;
    });
    const passed = await passOn(req, res, passing);
    // If a request without a body reached an app that just ended, the request can be sent again.
    const hasBody = req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;
    return { passed, why: why === "refused" && !hasBody ? "absent" : why };
  });
}

/** `refuse` gets the reason if the WebSocket cannot be passed on. */
export async function passSocketToApp(
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  {
    app,
    sent,
    refuse,
    keptMs = SOCKET_KEPT_MS,
  }: { app: App; sent: Sent; refuse: (failure: AppFailure) => void; keptMs?: number },
): Promise<void> {
  const full = await takeSlot(app.repo.id, "sockets", socket);
  if (full) return refuse(full);
  const stopWatching = watchPace({
    bytes: () => (socket as Socket).bytesRead + (socket as Socket).bytesWritten,
    isWaiting: () => true,
    graceMs: Number.POSITIVE_INFINITY,
    contendedGraceMs: keptMs,
    mustYield: requestContext.getStore()?.mustYield,
    onTooSlow: () => socket.destroy(),
  });
  socket.once("close", stopWatching);
  const leaving = new AbortController();
  socket.once("close", () => leaving.abort());
  const failure = await untilAnswered(app, leaving.signal, async (address) => {
    let outcome: Passed = "answered";
    await passOnUpgrade(req, socket, head, {
      ...passingTo(req, app, address, sent, () => undefined),
      refuse: (passed) => {
        outcome = passed;
      },
    });
    return { passed: outcome, why: "" };
  });
  if (failure) refuse(failure);
}

type Attempt = { passed: Passed; why: string };

async function untilAnswered(
  { repo, runtime }: App,
  signal: AbortSignal,
  attempt: (address: string) => Promise<Attempt>,
): Promise<AppFailure | undefined> {
  const until = performance.now() + WAKE_MS;
  for (let now = runtime; ; ) {
    if (now && (now.stage === "SLEEPING" || now.stage === "STOPPED")) {
      const refusal = await wakeSpace(repo.id).catch(refusalOf);
      if (refusal) return refusal;
    }
    const isSettled = (one: SpaceRuntime) =>
      one.stage === "RUNNING" ? one.address !== null : !isComing(one.stage) && one.stage !== "SLEEPING";
    if (!now || !isSettled(now)) now = await awaitRuntime(repo.id, isSettled, { until, signal });
    if (signal.aborted) return undefined;
    if (!now?.address || now.stage !== "RUNNING") return failureOf(now);
    await noteRequest(repo.id);
    const { passed, why } = await attempt(now.address);
    if (passed === "answered") return undefined;
    // The row was read while it changed, or another worker takes the Space over.
    const isGone = passed === "refused" || (passed === "declined" && why === "absent");
    if (!isGone || performance.now() >= until) return failed(passed, why);
    const { address, startedAt } = now;
    now = await awaitRuntime(repo.id, (one) => one.address !== address || one.startedAt?.getTime() !== startedAt?.getTime(), {
      until: Math.min(until, performance.now() + AGAIN_MS),
      signal,
    });
  }
}

/** A visitor who wakes one Space after another takes slots from others. */
function refusalOf(error: unknown): AppFailure {
  if (!isServiceError(error) || error.code !== "rate_limited") throw error;
  const { status, code, retryAfterSeconds = RETRY_AFTER_SECONDS } = error;
  const text = "You have woken too many Spaces in the last few minutes. Try again later.";
  return { status, error: code, title: "This Space is asleep", text, retryAfter: retryAfterSeconds };
}

function passingTo(
  req: IncomingMessage,
  app: App,
  address: string,
  { path, ip, requestId }: Sent,
  decline: (why: string) => void,
): Passing {
  const { hostname, port } = new URL(address);
  return {
    upstream: { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 80) },
    agent,
    path,
    headers: {
      ...requestHeaders(req.headers, { base: app.base, ip, requestId }),
      [GATEWAY_KEY_HEADER]: gatewayKey(app.repo.id),
      [PARTY_HEADER]: currentParty().key,
    },
    // If the Space has moved meanwhile, the request is still complete and can be sent to the new address.
    isBodyHeldBack: true,
    answer: (_, headers: IncomingHttpHeaders) => {
      const why = headers[GATEWAY_ANSWER_HEADER];
      if (why === undefined) return answerHeaders(headers, app);
      decline(String(why));
      return undefined;
    },
  };
}

function failed(passed: Passed, why: string): AppFailure {
  if (passed === "timed_out" || why === "timed_out") return { ...slow };
  if (why === "busy") return { ...busy };
  if (passed === "refused" || why === "absent") return { ...starting };
  return { ...broken };
}

function failureOf(runtime: SpaceRuntime | undefined): AppFailure {
  if (!runtime) return noApp("It has no files yet.");
  if (runtime.stage === "NO_APP_FILE" || runtime.stage === "CONFIG_ERROR" || runtime.stage === "BUILD_ERROR")
    return noApp(runtime.message ?? "");
  if (runtime.stage === "PAUSED") return { ...paused };
  if (runtime.message === SPACES_OFF) return { ...hasFailed, title: "Spaces are disabled", text: SPACES_OFF };
  if (runtime.stage === "RUNTIME_ERROR") return { ...hasFailed };
  return { ...starting };
}

const noApp = (text: string): AppFailure => ({ status: 503, error: "no_app", title: "This Space is not running", text });
const starting: AppFailure = {
  status: 503,
  error: "starting",
  title: "This Space is starting",
  text: "It was asleep or has just been changed. This page reloads automatically.",
  retryAfter: RETRY_AFTER_SECONDS,
};
const busy: AppFailure = {
  status: 503,
  error: "busy",
  title: "This Space is busy",
  text: "It is receiving too many requests. Try again in a moment.",
  retryAfter: RETRY_AFTER_SECONDS,
};
const paused: AppFailure = {
  status: 503,
  error: "paused",
  title: "This Space is paused",
  text: "Its maintainers can restart it on its page.",
};
const hasFailed: AppFailure = {
  status: 502,
  error: "failed",
  title: "This Space has failed",
  text: "The app does not start, or keeps stopping. Its maintainers can see the reason on its page.",
};
const broken: AppFailure = {
  status: 502,
  error: "upstream_error",
  title: "This Space stopped responding",
  text: "Its response was incomplete. Try again. If this happens again, its maintainers can read its log.",
};
const slow: AppFailure = {
  status: 504,
  error: "upstream_timeout",
  title: "This Space is not responding",
  text: "It received the request but has not responded for a minute. Try again later. If this happens again, its maintainers can read its log.",
};
