import { verifyWebhookSignature, type WebhookPayload, WebhookVerificationError } from "@keyhook/sdk";
import type { ErrorSource } from "../receiver-options.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { type Answer, type IncomingRequest, json, parsePayload, RefusedError } from "./incoming-request.ts";
import { DeliveryContext, type RegisteredHandler, runHandler } from "./registered-handler.ts";

export type Reception = {
  sender: SenderRules;
  limits: { maxBytes: number; timeoutMs: number };
  store: DeliveryStore;
  /** The responses that are being made, by handler and delivery ID. */
  inProgress: Map<string, Promise<Answer>>;
  /** The receiver awaits this work when it stops. */
  running: Set<Promise<unknown>>;
  /** Aborted when the receiver stops waiting for running handlers. */
  ending: AbortSignal;
  onError(error: unknown, source: ErrorSource): void;
};

export type Received = { answer: Answer; id: string | undefined; payload: WebhookPayload | undefined; isRepeated: boolean };

const ID_MAX_CHARACTERS = 256;
const TIMESTAMPS_MAX = 20;

export async function receiveDelivery(
  incoming: IncomingRequest,
  handler: RegisteredHandler,
  reception: Reception,
): Promise<Received> {
  const id = incoming.header("webhook-id");
  const refused = (answer: Answer): Received => ({ answer, id: undefined, payload: undefined, isRepeated: false });
  try {
    const sender = await checkSender(incoming, reception.sender);
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

async function start(incoming: IncomingRequest, handler: RegisteredHandler, reception: Reception, work: Work): Promise<Answer> {
  if (handler.queue.isFull)
    return json(503, { error: "Too many deliveries are waiting. Try again later." }, { "retry-after": "30" });
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
    // The delivery counts as accepted until its handler fails. A replay of a failed delivery runs the handler again.
    return Object.defineProperty(json(202, { queued: true }), WORK, { value: run }) as Answer;
  }
  return run.catch((): Answer => ({ status: 500, body: "Internal Server Error\n", headers: { "content-type": "text/plain" } }));
}

const WORK = Symbol("the work behind a 202");

/** `X-Webhook-Replay` is not signed, so a copied request is recognized by its timestamp, which is signed. */
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
      return json(
        503,
        { error: "The receiver cannot tell whether this delivery arrived before. Try again later." },
        { "retry-after": "30" },
      );
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

type SenderRules = { secrets: readonly string[]; requireSignature: boolean | undefined; toleranceSeconds: number };

/**
 * Checks the headers before the body is read (S140). With a `whsec_` secret, a signature is required, because an intercepted
 * secret would work forever.
 * @throws RefusedError 401 if a required header is missing, 403 if the secret is wrong
 */
async function checkSender(incoming: IncomingRequest, rules: SenderRules): Promise<"trusted" | "verify the body"> {
  const { secrets, requireSignature } = rules;
  if (secrets.length === 0) return "trusted";
  if (incoming.header("webhook-signature") !== undefined) return "verify the body";
  const sent = incoming.header("x-webhook-secret");
  if (sent === undefined) throw new RefusedError(401, "x-webhook-secret header not set.");
  const plain =
    requireSignature === undefined ? secrets.filter((one) => !one.startsWith("whsec_")) : requireSignature ? [] : secrets;
  if (plain.length === 0) {
    throw new RefusedError(401, "webhook-signature header not set: this receiver accepts only signed deliveries.");
  }
  await verify(new Uint8Array(0), incoming, plain, rules.toleranceSeconds);
  return "trusted";
}

/** @throws RefusedError 403 if the signature or its time is not valid */
function checkSignature(body: Uint8Array, incoming: IncomingRequest, rules: SenderRules): Promise<void> {
  return verify(body, incoming, rules.secrets, rules.toleranceSeconds);
}

async function verify(body: Uint8Array, incoming: IncomingRequest, secret: readonly string[], toleranceSeconds: number) {
  try {
    const headers = { get: (name: string) => incoming.header(name) ?? null };
    await verifyWebhookSignature({ body, headers, secret, toleranceSeconds });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    const isSecretWrong = error.code === "wrong_secret" || error.code === "wrong_signature";
    throw new RefusedError(403, isSecretWrong ? "Invalid webhook secret." : error.message);
  }
}
