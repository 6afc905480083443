import type { WebhookPayload } from "@keyhook/sdk";
import type { ErrorSource } from "../receiver-options.ts";
import { checkSender, checkSignature, type SenderRules } from "./check-sender.ts";
import { DeliveryContext } from "./delivery-context.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { type Answer, type IncomingRequest, json, RefusedError } from "./incoming-request.ts";
import { parsePayload } from "./parse-payload.ts";
import type { RegisteredHandler } from "./registered-handler.ts";
import { runHandler } from "./run-handler.ts";

export type Reception = {
  sender: SenderRules;
  limits: { maxBytes: number; timeoutMs: number };
  store: DeliveryStore;
  /** Deliveries that are being worked on, by handler and id. */
  inProgress: Map<string, Promise<Answer>>;
  /** All that runs, to wait for at the end. */
  running: Set<Promise<unknown>>;
  /** Aborted when what runs is not waited for any longer. */
  ending: AbortSignal;
  onError(error: unknown, source: ErrorSource): void;
};

/** What the list of the last deliveries says of one. */
export type Received = { answer: Answer; id: string | undefined; payload: WebhookPayload | undefined; isRepeated: boolean };

const ID_MAX_CHARACTERS = 256;
const TIMESTAMPS_MAX = 20;

/** The request of one delivery: who sends it, what it says, whether it was here before; and then the handler. */
export async function receiveDelivery(
  incoming: IncomingRequest,
  handler: RegisteredHandler,
  reception: Reception,
  isOfOurOwn = false,
): Promise<Received> {
  const id = incoming.header("webhook-id");
  const refused = (answer: Answer): Received => ({ answer, id: undefined, payload: undefined, isRepeated: false });
  try {
    const sender = isOfOurOwn ? "trusted" : await checkSender(incoming, reception.sender);
    const rawBody = await incoming.body(reception.limits);
    if (sender === "verify the body") await checkSignature(rawBody, incoming, reception.sender);
    const parsed = parsePayload(incoming.header("content-type"), rawBody);
    if ("refused" in parsed) return refused(parsed.refused);
    if (id !== undefined && id.length > ID_MAX_CHARACTERS) throw new RefusedError(400, "webhook-id is too long.");
    const { payload } = parsed;
    const work = () => start(incoming, handler, reception, { id: id ?? crypto.randomUUID(), rawBody, payload });
    if (!handler.deduplicate || id === undefined) return { answer: await work(), id, payload, isRepeated: false };
    return { ...(await once(incoming, `${handler.name}\n${id}`, id, reception, work)), id, payload };
  } catch (error) {
    if (error instanceof RefusedError) return refused(error.answer);
    throw error;
  }
}

type Work = { id: string; rawBody: Uint8Array; payload: WebhookPayload };

/** Begins the work; with `queue` the answer comes before it. */
async function start(incoming: IncomingRequest, handler: RegisteredHandler, reception: Reception, work: Work): Promise<Answer> {
  if (handler.queue.isFull) return json(503, { error: "Too many deliveries are waiting. Come again." }, { "retry-after": "30" });
  const { id, rawBody, payload } = work;
  const source = { handler: handler.name, deliveryId: id };
  const run = handler.queue.run(() =>
    runHandler(handler, payload, (signal) => new DeliveryContext(incoming, { id, rawBody, signal }), reception.ending),
  );
  const tracked = run.then(
    () => undefined,
    (error) => reception.onError(error, { ...source, during: handler.mode === "queue" ? "queue" : "handler" }),
  );
  reception.running.add(tracked);
  void tracked.then(() => reception.running.delete(tracked));
  if (handler.mode === "queue") {
    // The id is known as taken from now on, unless the work fails: then a replay may run it.
    return Object.defineProperty(json(202, { queued: true }), WORK, { value: run }) as Answer;
  }
  return run.catch((): Answer => ({ status: 500, body: "Internal Server Error\n", headers: { "content-type": "text/plain" } }));
}

const WORK = Symbol("the work behind a 202");

/**
 * Each delivery once: what is in progress is awaited, what was taken is answered as before, what failed may run again. A replay that
 * somebody asked for (`X-Webhook-Replay`) does run again. That header is not signed, but the attempt's timestamp is: a copy of a request
 * that was overheard has a timestamp that was here, and is answered from memory whatever headers are put beside it. A replay that failed is
 * remembered as one: the service tries it again, and those attempts do not say that they are replays.
 */
async function once(
  incoming: IncomingRequest,
  key: string,
  deliveryId: string,
  { inProgress, store, onError }: Reception,
  work: () => Promise<Answer>,
): Promise<{ answer: Answer; isRepeated: boolean }> {
  const running = inProgress.get(key);
  if (running) return { answer: await running, isRepeated: true };
  const timestamp = incoming.header("webhook-timestamp") ?? "";
  let isRepeated = false;
  const remember = async (answer: Answer, timestamps: readonly string[]) => {
    const { status, body, headers = {} } = answer;
    try {
      await store.set(key, { status, body, headers, timestamps: [...timestamps, timestamp].slice(-TIMESTAMPS_MAX) });
    } catch (error) {
      onError(error, { deliveryId, during: "store" });
    }
  };
  const decide = async (): Promise<Answer> => {
    let before: Awaited<ReturnType<DeliveryStore["get"]>>;
    try {
      before = await store.get(key);
    } catch (error) {
      onError(error, { deliveryId, during: "store" });
      return json(503, { error: "The receiver cannot tell whether this was here before. Come again." }, { "retry-after": "30" });
    }
    const timestamps = before?.timestamps ?? [];
    const isWanted = incoming.header("x-webhook-replay") === "true" || (before !== undefined && before.status >= 300);
    if (before && (!isWanted || timestamps.includes(timestamp))) {
      isRepeated = true;
      if (!timestamps.includes(timestamp)) await remember(before, timestamps);
      return { status: before.status, body: before.body, headers: before.headers ?? {} };
    }
    const answer = await work();
    if (answer.status < 300 || before) await remember(answer, timestamps);
    if (answer.status < 300) {
      const queued = (answer as { [WORK]?: Promise<unknown> })[WORK];
      queued?.catch(async () => {
        try {
          await store.delete(key);
        } catch (error) {
          onError(error, { deliveryId, during: "store" });
        }
      });
    }
    return answer;
  };
  const deciding = decide();
  inProgress.set(key, deciding);
  try {
    return { answer: await deciding, isRepeated };
  } finally {
    inProgress.delete(key);
  }
}
