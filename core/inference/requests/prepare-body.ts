import { ServiceError } from "../../errors.ts";

/** What is passed on, by its path behind the base address. */
export const inferenceEndpoints = ["chat/completions", "completions", "embeddings", "responses"] as const;
export type InferenceEndpoint = (typeof inferenceEndpoints)[number];

export type PreparedBody = {
  json: string;
  isStreamed: boolean;
  /** Whether the client itself wants the tokens of a stream counted at its end. */
  isUsageWanted: boolean;
};

/** A request's body as an object. @throws ServiceError `invalid_request` */
export function parseBody(text: string): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new ServiceError("invalid_request", "The body is not valid JSON.", { cause });
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ServiceError("invalid_request", "The body must be a JSON object.");
  }
  return body as Record<string, unknown>;
}

/**
 * What to fall back on, and where and by whose key a request is answered, is not the client's to choose: a provider that is a gateway
 * itself would send the prompt, or its own key, to an address of the client's.
 */
const ROUTES: ReadonlySet<string> = new Set([
  ...["models", "model_list", "fallbacks", "context_window_fallbacks", "content_policy_fallbacks"],
  ...["api_base", "base_url", "api_key", "api_version", "custom_llm_provider", "user_config"],
]);

/** What we set, read or refuse. */
const OURS: ReadonlySet<string> = new Set([
  ...["model", "stream", "stream_options", "include_usage", "store", "previous_response_id", "conversation", "background"],
  ...ROUTES,
]);

/** For providers written in Go `Model` and `\u017ftore` are what `model` and `store` are, and the last one counts. */
function isLookalike(name: string): boolean {
  const meant = name.toUpperCase().toLowerCase();
  return meant !== name && OURS.has(meant);
}

/**
 * The body as the provider gets it: the client's own, whatever is in it, but for the name of the model, what makes a stream say what it
 * used, and what would leave something at the provider. All people here share one account there: whatever it keeps for later, each of
 * them could ask for (docs/decisions/047).
 * @throws ServiceError `invalid_request`
 */
export function prepareBody(endpoint: InferenceEndpoint, body: Record<string, unknown>, upstreamName: string): PreparedBody {
  const isStreamed = body.stream === true;
  const prepared: Record<string, unknown> = { ...body, model: upstreamName };
  const options = Object(body.stream_options) as Record<string, unknown>;
  const lookalike =
    Object.keys(body).find(isLookalike) ?? (Object.keys(options).some(isLookalike) ? "stream_options" : undefined);
  if (lookalike !== undefined) {
    throw new ServiceError("invalid_request", "Write the names of fields in small letters.", { field: lookalike });
  }
  const route = Object.keys(body).find((name) => ROUTES.has(name));
  if (route !== undefined) {
    const sentence = route.startsWith("model") ? "Name one model, in `model`." : `${route} is not taken here: the model decides.`;
    throw new ServiceError("invalid_request", sentence, { field: route });
  }
  if (endpoint === "responses") {
    for (const name of ["previous_response_id", "conversation", "background"]) {
      if (body[name] === undefined || body[name] === null || body[name] === false) continue;
      throw new ServiceError("invalid_request", `${name} is not taken here: answers are not kept. Send the whole conversation.`, {
        field: name,
      });
    }
    prepared.store = false;
  } else {
    if (body.store !== undefined) prepared.store = false;
    if (isStreamed && endpoint !== "embeddings") prepared.stream_options = { ...options, include_usage: true };
  }
  return { json: serialized(prepared), isStreamed, isUsageWanted: endpoint === "responses" || options.include_usage === true };
}

function serialized(body: Record<string, unknown>): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    // What can be parsed can still be too deep to be written.
    throw new ServiceError("invalid_request", "The body is nested too deeply.", { cause });
  }
}
