import { env } from "../../env.ts";
import { invalidRequest, isServiceError, ServiceError } from "../../errors.ts";
import type { UsableModel } from "../models.ts";

export const inferenceEndpoints = ["chat/completions", "completions", "embeddings", "responses"] as const;
export type InferenceEndpoint = (typeof inferenceEndpoints)[number];

export type PreparedBody = {
  json: string;
  isStreamed: boolean;
  isUsageWanted: boolean;
};

export function parseBody(text: string): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new ServiceError("invalid_request", "The body is not valid JSON.", { cause });
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw invalidRequest("The body must be a JSON object.");
  return body as Record<string, unknown>;
}

/** The fields of the npm package openai, version 7, without those that would cost the shared account more. */
const STANDARD = `
  messages model input prompt instructions stream stream_options store metadata user max_tokens max_completion_tokens
  max_output_tokens max_tool_calls temperature top_p n best_of seed stop suffix echo truncation frequency_penalty
  presence_penalty logit_bias logprobs top_logprobs tools tool_choice parallel_tool_calls functions function_call
  response_format text include reasoning reasoning_effort verbosity modalities audio image prediction web_search_options
  dimensions encoding_format moderation safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention
  context_management previous_response_id conversation background`;

const EXTRAS = `
  top_k top_a min_p typical_p tfs_z repetition_penalty length_penalty repeat_penalty repeat_last_n mirostat mirostat_tau
  mirostat_eta dynatemp_range dynatemp_exponent xtc_probability xtc_threshold samplers dry_multiplier dry_base
  dry_allowed_length dry_penalty_last_n dry_sequence_breakers random_seed do_sample use_beam_search early_stopping min_tokens
  ignore_eos stop_token_ids include_stop_str_in_output no_stop_trim n_predict n_probs allowed_token_ids bad_words
  logprobs_mode prompt_logprobs truncate_prompt_tokens skip_special_tokens spaces_between_special_tokens add_special_tokens
  return_token_ids return_tokens_as_token_ids add_generation_prompt continue_final_message chat_template_kwargs tool_prompt
  documents structured_outputs structural_tag grammar json_schema regex ebnf guided_json guided_regex guided_choice
  guided_grammar guided_whitespace_pattern thinking think enable_thinking thinking_budget thinking_token_budget
  include_reasoning reasoning_format reasoning_split separate_reasoning stream_reasoning prompt_mode safe_prompt watermark
  cache_prompt cache_salt timings_per_token return_progress search_mode usage search_domain_filter search_recency_filter
  return_images return_related_questions input_type task truncate normalize prompt_name late_chunking embedding_type
  output_dtype output_dimension`;

/**
 * Nobody can list all dangerous fields, so this is an allowlist (docs/decisions/084). Letter case matters, because providers
 * written in Go read `Model` as `model`.
 */
const KNOWN: ReadonlySet<string> = new Set(`${STANDARD} ${EXTRAS}`.trim().split(/\s+/));
/** In older versions of vLLM, these arguments replace the template, which is code (CVE-2025-61620). */
const TEMPLATE_ARGUMENTS = ["chat_template", "tokenize"];
const STREAM_OPTIONS: ReadonlySet<string> = new Set(["include_usage", "include_obfuscation", "continuous_usage_stats"]);

function requireKnown(body: Record<string, unknown>, options: Record<string, unknown>): void {
  const field = Object.keys(body).find((name) => !KNOWN.has(name) && !env().INFERENCE_EXTRA_FIELDS.includes(name));
  if (field !== undefined) {
    const sentence =
      field === "models"
        ? "Send one model in `model`."
        : "A field with this name is not forwarded. The operator can allow it (INFERENCE_EXTRA_FIELDS).";
    throw invalidRequest(sentence, field.slice(0, 100));
  }
  if (TEMPLATE_ARGUMENTS.some((name) => Object.hasOwn(Object(body.chat_template_kwargs), name))) {
    const sentence = `\`chat_template_kwargs\` cannot contain ${TEMPLATE_ARGUMENTS.join(" or ")} here.`;
    throw invalidRequest(sentence, "chat_template_kwargs");
  }
  if (Object.keys(options).every((name) => STREAM_OPTIONS.has(name))) return;
  const known = `\`stream_options\` can contain only ${[...STREAM_OPTIONS].join(", ")}.`;
  throw invalidRequest(known, "stream_options");
}

/** Ignores letter case, because providers written in Go also read `URL`. */
const URL_FIELD = /(^|_)url$/i;

/** A provider in the operator's network would fetch such a URL from within that network (S118, S119). */
function requireNoUrl(name: string, value: unknown): unknown {
  if (typeof value === "string" && URL_FIELD.test(name) && !/^data:/i.test(value)) {
    throw invalidRequest(
      "The provider of this model does not open URLs. Send the content itself as a data: URL.",
      name.slice(0, 100),
    );
  }
  return value;
}

/** All users share one account at the provider, so nothing may be stored there (docs/decisions/047). */
export function prepareBody(
  endpoint: InferenceEndpoint,
  body: Record<string, unknown>,
  { upstreamName, provider }: Pick<UsableModel, "upstreamName" | "provider">,
): PreparedBody {
  const isStreamed = body.stream === true;
  // Some providers read 1 or "true" as true, and would stream without reporting the usage.
  if (!isStreamed && body.stream) throw invalidRequest("`stream` must be true or false.", "stream");
  const prepared: Record<string, unknown> = { ...body, model: upstreamName };
  const options = Object(body.stream_options) as Record<string, unknown>;
  requireKnown(body, options);
  if (endpoint === "responses") {
    for (const name of ["previous_response_id", "conversation", "background"]) {
      if (body[name] === undefined || body[name] === null || body[name] === false) continue;
      const instead = name === "background" ? "Wait for the response, or stream it." : "Send the whole conversation.";
      throw invalidRequest(`${name} is not supported: responses are not stored. ${instead}`, name);
    }
    prepared.store = false;
  } else {
    if (body.store !== undefined) prepared.store = false;
    if (isStreamed && endpoint !== "embeddings") prepared.stream_options = { ...options, include_usage: true };
  }
  return {
    json: serialized(prepared, provider.isOwnNetworkAllowed ? requireNoUrl : undefined),
    isStreamed,
    isUsageWanted: endpoint === "responses" || options.include_usage === true,
  };
}

function serialized(body: Record<string, unknown>, check?: (name: string, value: unknown) => unknown): string {
  try {
    return JSON.stringify(body, check);
  } catch (cause) {
    if (isServiceError(cause)) throw cause;
    // A value that can be parsed may still be nested too deeply to serialize.
    throw new ServiceError("invalid_request", "The body is nested too deeply.", { cause });
  }
}
