import { waitInWords } from "../../counted.ts";
import { ServiceError } from "../../errors.ts";
import { log } from "../../log.ts";
import { isAllowedAddress, isAllowedOrOwnAddress } from "../../outbound/is-allowed-address.ts";
import { type StreamedResult, streamRequest } from "../../outbound/stream-request.ts";
import type { UsableModel } from "../models.ts";
import { openKey } from "../providers/provider.ts";

type Upstream = { baseUrl: string; sealedApiKey: Uint8Array | null; isOwnNetworkAllowed: boolean };

type UpstreamRequest = {
  path: string;
  body?: string;
  isStreamed?: boolean;
  idleMs: number;
  deadlineMs: number;
  signal?: AbortSignal;
};

/** The provider gets no token, no cookie and no address of the client. */
export function openUpstream(
  { baseUrl, sealedApiKey, isOwnNetworkAllowed }: Upstream,
  { path, body, isStreamed, ...bounds }: UpstreamRequest,
): Promise<StreamedResult> {
  const key = openKey(sealedApiKey);
  return streamRequest({
    url: baseUrl + path,
    method: body === undefined ? "GET" : "POST",
    headers: {
      accept: isStreamed ? "text/event-stream" : "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== null && { authorization: `Bearer ${key}` }),
    },
    ...(body !== undefined && { body }),
    allows: isOwnNetworkAllowed ? isAllowedOrOwnAddress : isAllowedAddress,
    ...bounds,
  });
}

export type PassedRefusal = {
  status: number;
  error: { message: string; type: string | null; code: string | null; param: string | null };
};

const MESSAGE_MAX_CHARACTERS = 2_000;
const RETRY_SECONDS = 5;
const RETRY_MAX_SECONDS = 3_600;

/** With these statuses the request is at fault, so the user gets the provider's error. */
const OF_THE_REQUEST = new Set([400, 413, 422]);

/** For all other statuses, the provider's own words are left out, because they may reveal details of the operator's account. */
export function refusalOfUpstream(
  { provider, name }: UsableModel,
  { status, headers, text, key }: { status: number; headers: Record<string, string>; text: string; key: string | null },
): PassedRefusal {
  if (OF_THE_REQUEST.has(status)) return { status, error: errorIn(text, key) };
  log().warn({ provider: provider.name, model: name, status }, "an inference provider refused a request");
  if (status === 429) {
    const seconds = /^\d{1,6}$/.test(headers["retry-after"] ?? "") ? Number(headers["retry-after"]) : RETRY_SECONDS;
    const retryAfterSeconds = Math.min(Math.max(seconds, 1), RETRY_MAX_SECONDS);
    throw new ServiceError(
      "rate_limited",
      `The provider of this model is busy. Try again in ${waitInWords(retryAfterSeconds)}.`,
      {
        retryAfterSeconds,
      },
    );
  }
  if (status === 408 || status === 504)
    throw new ServiceError("upstream_timeout", "The provider of this model did not respond in time. Try again later.");
  if ([401, 402, 403].includes(status)) {
    throw new ServiceError(
      "upstream_error",
      "The provider of this model refuses requests from this service. Contact the operator.",
    );
  }
  if (status === 404) throw new ServiceError("upstream_error", "The provider does not have this model. Contact the operator.");
  throw new ServiceError("upstream_error", `The provider of this model failed (status ${status}). Try again later.`);
}

function errorIn(text: string, key: string | null): PassedRefusal["error"] {
  const { message, type, code, param } = Object(errorObject(text)) as Record<string, unknown>;
  const reported =
    typeof message === "string" && message.trim()
      ? message
      : "The provider of this model does not accept this request and gives no reason. Check its fields.";
  return {
    message: (key ? reported.replaceAll(key, "[redacted]") : reported).slice(0, MESSAGE_MAX_CHARACTERS).toWellFormed(),
    type: word(type) ?? "invalid_request_error",
    code: word(code),
    param: word(param),
  };
}

function errorObject(text: string): unknown {
  try {
    const body = Object(JSON.parse(text)) as Record<string, unknown>;
    return typeof body.error === "string" ? { message: body.error } : (body.error ?? body);
  } catch {
    return undefined;
  }
}

const word = (value: unknown): string | null => (typeof value === "string" && /^[\w.[\]-]{1,100}$/.test(value) ? value : null);
