export type TokenCount = {
  prompt: number;
  completion: number;
  isEstimated: boolean;
};

const BYTES_PER_TOKEN = 4;
const TOKENS_MAX = 1_000_000_000;
const FILE_TOKENS = 1_000;
const COMPLETION_USUAL = 1_000;
export const COMPLETION_MAX = 100_000;
const TOKENS_PER_SECOND = 100;

export function tokenCountOf(usage: unknown): TokenCount | undefined {
  const reported = Object(usage) as Record<string, unknown>;
  const prompt = tokens(reported.prompt_tokens ?? reported.input_tokens);
  const completion = tokens(reported.completion_tokens ?? reported.output_tokens);
  if (prompt === undefined && completion === undefined) {
    const total = tokens(reported.total_tokens);
    return total === undefined ? undefined : { prompt: total, completion: 0, isEstimated: false };
  }
  return { prompt: prompt ?? 0, completion: completion ?? 0, isEstimated: false };
}

function tokens(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= TOKENS_MAX ? Math.ceil(value) : undefined;
}

export const tokensOfText = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** The length of an embedded file does not show how many tokens it uses, so each counts as a typical picture. */
export function estimatePrompt(body: unknown): number {
  let bytes = 0;
  const waiting: unknown[] = [body];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") {
      bytes += Buffer.byteLength(value);
    } else if (Array.isArray(value)) {
      // A prompt may already consist of tokens, which are numbers.
      if (typeof value[0] === "number") bytes += value.length * BYTES_PER_TOKEN;
      else for (const item of value) waiting.push(item);
    } else if (typeof value === "object" && value !== null) {
      const isMedia = "data" in value && "format" in value;
      for (const [name, item] of Object.entries(value)) {
        if ((isMedia && name === "data") || isInlineFile(name, item)) bytes += FILE_TOKENS * BYTES_PER_TOKEN;
        else waiting.push(item);
      }
    }
  }
  return tokensOfText(bytes);
}

/** In other fields, a data URL is text. */
const FILE_FIELDS: ReadonlySet<string> = new Set(["url", "image_url", "file_data"]);
const isInlineFile = (name: string, value: unknown): boolean =>
  FILE_FIELDS.has(name) && typeof value === "string" && value.startsWith("data:");

export type CompletionEstimate = { reserved: number; perSecond: number };

export const noCompletion: CompletionEstimate = { reserved: 0, perSecond: 0 };

export function estimateCompletion(body: Record<string, unknown>): CompletionEstimate {
  const most = [body.max_completion_tokens, body.max_tokens, body.max_output_tokens]
    .map(tokens)
    .find((each) => each !== undefined);
  const answers = Math.min(Math.max(tokens(body.n) ?? 1, 1), 16);
  const reserved = Math.min((most ?? COMPLETION_USUAL) * answers, COMPLETION_MAX);
  return { reserved, perSecond: answers * TOKENS_PER_SECOND };
}
