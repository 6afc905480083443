import { type TokenCount, tokenCountOf, tokensOfText } from "../metering/token-count.ts";

/** Counts what a response uses as it passes: as the provider reports, or else by its text. */
export class AnswerCounter {
  readonly #promptEstimate: number;
  #told: TokenCount | undefined;
  #characters = 0;

  constructor(promptEstimate: number) {
    this.#promptEstimate = promptEstimate;
  }

  /** Takes a whole response, or one event of a stream. */
  take(data: Record<string, unknown>): void {
    const response = Object(data.response) as Record<string, unknown>;
    this.#told = tokenCountOf(data.usage) ?? tokenCountOf(response.usage) ?? this.#told;
    this.#characters += charactersOf(data);
  }

  result(): TokenCount {
    const estimate = { prompt: this.#promptEstimate, completion: tokensOfText(this.#characters), isEstimated: true };
    return this.#told ?? estimate;
  }
}

/** The text written by a model, in each of the forms in which it arrives. */
function charactersOf(data: Record<string, unknown>): number {
  // An event of the responses API; its other events repeat what these had.
  if (typeof data.type === "string" && data.type.endsWith(".delta")) return lengthOf(data.delta);
  const choices = Array.isArray(data.choices) ? data.choices : [];
  let characters = 0;
  for (const choice of choices) {
    const { text, delta, message } = Object(choice) as Record<string, unknown>;
    const said = Object(delta ?? message) as Record<string, unknown>;
    characters += lengthOf(text) + lengthOf(said.content) + lengthOf(said.reasoning_content) + lengthOf(said.refusal);
    for (const call of Array.isArray(said.tool_calls) ? said.tool_calls : []) {
      const { name, arguments: given } = Object(Object(call).function) as Record<string, unknown>;
      characters += lengthOf(name) + lengthOf(given);
    }
  }
  for (const item of Array.isArray(data.output) ? data.output : []) {
    const parts = Object(item).content;
    for (const part of Array.isArray(parts) ? parts : []) characters += lengthOf(Object(part).text);
  }
  return characters;
}

const lengthOf = (value: unknown): number => (typeof value === "string" ? value.length : 0);
