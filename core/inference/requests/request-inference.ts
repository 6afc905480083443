import type { Actor } from "../../access/actor.ts";
import { env } from "../../env.ts";
import { type ErrorCode, isServiceError, ServiceError } from "../../errors.ts";
import { BodyRoom } from "../../fair-queue/body-budget.ts";
import { fairQueue } from "../../fair-queue/fair-queue.ts";
import { log } from "../../log.ts";
import { isOutboundFailure } from "../../outbound/request.ts";
import type { StreamedResult } from "../../outbound/stream-request.ts";
import { type InferenceAccount, requireInferenceAccount } from "../metering/allowance.ts";
import { countRequest, readRates } from "../metering/rates.ts";
import { REQUEST_MAX_MS, reserve, settle } from "../metering/reserve.ts";
import { estimateCompletion, estimatePrompt, noCompletion, type TokenCount } from "../metering/token-count.ts";
import { findModel, type UsableModel } from "../models.ts";
import { openKey } from "../providers/provider.ts";
import { AnswerCounter, passOnEvents, rename } from "./pass-on-events.ts";
import { type InferenceEndpoint, type PreparedBody, parseBody, prepareBody } from "./prepare-body.ts";
import { openUpstream, type PassedRefusal, refusalOfUpstream } from "./upstream.ts";

const ANSWER_MAX_BYTES = 16 * 1024 * 1024;
/** Parsing or writing such a body can block the event loop for a tenth of a second (S137). */
const LARGE_JSON_BYTES = 256 * 1024;
const largeJson = fairQueue({ name: "inference_json", slots: 1, waitMaxMs: 30_000 });
const REFUSAL_MAX_BYTES = 64 * 1024;

type InferenceRequest = {
  endpoint: InferenceEndpoint;
  body: string;
  signal: AbortSignal;
};

type InferenceAnswer =
  | { kind: "whole"; json: string }
  | { kind: "events"; events: AsyncGenerator<string, void, undefined> }
  | ({ kind: "refused" } & PassedRefusal);

type Answered = Extract<StreamedResult, { outcome: "answered" }>;

/**
 * Read the events to their end, call their `return()`, or abort `signal`. If you do none of these, the reservation lasts until it
 * expires.
 */
export async function requestInference(actor: Actor, { endpoint, body, signal }: InferenceRequest): Promise<InferenceAnswer> {
  const account = await requireInferenceAccount(actor);
  // The request is counted before it is parsed, because parsing is most of the cost of an invalid request.
  await countRequest(account, await readRates());
  const asked = await inTurn(body, () => parseBody(body));
  const model = await findModel(account, asked.model);
  const prepared = await inTurn(body, () => prepareBody(endpoint, asked, model));
  const { isUsageWanted } = prepared;
  const promptEstimate = await inTurn(body, () => estimatePrompt(asked));
  const completionEstimate = endpoint === "embeddings" ? noCompletion : estimateCompletion(asked);
  const finish = await begin(account, model, promptEstimate + completionEstimate.reserved);
  const counter = new AnswerCounter(promptEstimate, completionEstimate);
  try {
    const answered = await ask(model, endpoint, prepared, signal);
    if (answered.status < 200 || answered.status > 299) {
      const refusal = await readRefusal(model, answered);
      await finish(undefined);
      return { kind: "refused", ...refusal };
    }
    if (/^text\/event-stream\b/i.test(answered.headers["content-type"] ?? "")) {
      const end = async () => {
        if (signal.aborted) counter.abandon();
        answered.close();
        await finish(counter.result());
      };
      // If the client leaves before the first event is requested, the events never end by themselves.
      signal.addEventListener("abort", () => void end());
      if (signal.aborted) await end();
      return { kind: "events", events: events(answered, { model, isUsageWanted, counter, signal, end }) };
    }
    const json = await readAnswer(model, answered, counter);
    await finish(counter.result());
    return { kind: "whole", json };
  } catch (error) {
    const failure = failureOfUpstream(model, error, signal);
    const isSilent = isOf("upstream_timeout", failure) && counter.seconds() >= env().INFERENCE_IDLE_SECONDS;
    const hasNoRoom = isOf("unavailable", failure);
    // An answer that is not read to its end is counted. A client could otherwise bypass its allowance, for example by leaving.
    if (signal.aborted || isSilent || hasNoRoom) counter.abandon();
    await finish(counter.isBrokenOff ? counter.result() : undefined);
    throw failure;
  }
}

const isOf = (code: ErrorCode, error: unknown): boolean => isServiceError(error) && error.code === code;

type Finish = (used: TokenCount | undefined) => Promise<void>;

async function begin(account: InferenceAccount, { name }: UsableModel, estimate: number): Promise<Finish> {
  const reservation = await reserve(account, estimate);
  let isOpen = true;
  return async (used) => {
    if (!isOpen) return;
    isOpen = false;
    // The response is sent even if its usage could not be counted.
    await settle(account, reservation, { model: name, used }).catch((error: unknown) =>
      log().error({ err: error, ...reservation, used }, "the usage of an inference request could not be recorded"),
    );
  };
}

async function ask(
  model: UsableModel,
  endpoint: InferenceEndpoint,
  { json, isStreamed }: PreparedBody,
  signal: AbortSignal,
): Promise<Answered> {
  const bounds = { idleMs: env().INFERENCE_IDLE_SECONDS * 1000, deadlineMs: REQUEST_MAX_MS, signal };
  const opened = await openUpstream(model.provider, { path: `/${endpoint}`, body: json, isStreamed, ...bounds });
  if (opened.outcome === "answered") return opened;
  log().warn(
    { provider: model.provider.name, model: model.name, reason: opened.reason },
    "an inference provider was not reached",
  );
  if (opened.outcome === "unreachable" && opened.isTimeout) {
    throw new ServiceError("upstream_timeout", "The provider of this model did not respond in time. Try again later.");
  }
  throw new ServiceError("upstream_error", "The provider of this model could not be reached. Try again later.");
}

type Passing = {
  model: UsableModel;
  /** The prepared body may have many megabytes, so only this part of it is kept. */
  isUsageWanted: boolean;
  counter: AnswerCounter;
  signal: AbortSignal;
  end: () => Promise<void>;
};

async function* events(
  { body }: Answered,
  { model, isUsageWanted, counter, signal, end }: Passing,
): AsyncGenerator<string, void, undefined> {
  try {
    yield* passOnEvents({ body, counter, names: model, isUsageWanted, signal });
  } finally {
    await end();
  }
}

async function readAnswer(model: UsableModel, answered: Answered, counter: AnswerCounter): Promise<string> {
  const text = await readText(answered, ANSWER_MAX_BYTES);
  if (text === undefined) {
    counter.refuse();
    const most = `${ANSWER_MAX_BYTES / 1024 ** 2} MiB`;
    throw new ServiceError(
      "upstream_error",
      `The response is larger than ${most}. Request less at once, or stream the response.`,
    );
  }
  return inTurn(text, () => {
    const data = jsonObject(text);
    if (!data) {
      log().warn({ provider: model.provider.name, model: model.name }, "an inference provider's response is not JSON");
      throw new ServiceError(
        "upstream_error",
        "The response from the provider of this model could not be read. Try again, or contact the operator.",
      );
    }
    counter.take(data);
    return rename(data, model) ? written(data, model) : text;
  });
}

const inTurn = async <T>(json: string, work: () => T): Promise<T> =>
  json.length > LARGE_JSON_BYTES ? largeJson.run(work) : work();

function written(data: Record<string, unknown>, { provider, name }: UsableModel): string {
  try {
    return JSON.stringify(data);
  } catch (cause) {
    // A value that can be parsed may still be nested too deeply to serialize.
    log().warn({ provider: provider.name, model: name, err: cause }, "an inference provider's response cannot be written");
    throw new ServiceError(
      "upstream_error",
      "The response from the provider of this model could not be read. Try again, or contact the operator.",
      { cause },
    );
  }
}

async function readRefusal(model: UsableModel, answered: Answered): Promise<PassedRefusal> {
  const { status, headers } = answered;
  const text = (await readText(answered, REFUSAL_MAX_BYTES)) ?? "";
  return refusalOfUpstream(model, { status, headers, text, key: openKey(model.provider.sealedApiKey) });
}

async function readText({ body, close }: Answered, maxBytes: number): Promise<string | undefined> {
  const room = new BodyRoom();
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of body) {
      length += piece.length;
      if (length > maxBytes) return undefined;
      room.grow(length);
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString();
  } finally {
    close();
  }
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const data: unknown = JSON.parse(text);
    return typeof data === "object" && data !== null ? (data as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function failureOfUpstream({ provider, name }: UsableModel, error: unknown, { aborted: isGone }: AbortSignal): unknown {
  if (!isOutboundFailure(error)) return error;
  if (!isGone) {
    log().warn(
      { provider: provider.name, model: name, reason: error.result.reason },
      "an inference provider's response broke off",
    );
  }
  return error.result.outcome === "unreachable" && error.result.isTimeout
    ? new ServiceError("upstream_timeout", "The provider of this model did not respond in time. Try again later.")
    : new ServiceError("upstream_error", "The provider of this model closed the connection. Try again later.");
}
