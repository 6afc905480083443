import { expect, test } from "vitest";
import { estimateCompletion, estimatePrompt, tokenCountOf } from "./token-count.ts";

test("a provider's usage is read in the format of either API, and only if it is plausible", () => {
  expect(tokenCountOf({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 9 })).toEqual({
    prompt: 3,
    completion: 4,
    isEstimated: false,
  });
  expect(tokenCountOf({ input_tokens: 3, output_tokens: 4.2 })).toMatchObject({ prompt: 3, completion: 5 });
  expect(tokenCountOf({ total_tokens: 5 })).toMatchObject({ prompt: 5, completion: 0 });
  for (const none of [undefined, null, {}, "text", [], { prompt_tokens: -1 }, { prompt_tokens: "9" }, { total_tokens: 1e300 }]) {
    expect(tokenCountOf(none)).toBeUndefined();
  }
  expect(tokenCountOf({ prompt_tokens: Number.NaN, completion_tokens: 2 })).toMatchObject({ prompt: 0, completion: 2 });
});

test("a prompt is estimated by the request's text and its number of files", () => {
  const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1_000_000)}` } };
  const sound = { type: "input_audio", input_audio: { data: "A".repeat(1_000_000), format: "wav" } };
  const messages = [{ content: [{ text: "x".repeat(4_000) }, picture, sound] }];
  expect(estimatePrompt({ messages })).toBeGreaterThanOrEqual(3_000);
  expect(estimatePrompt({ messages })).toBeLessThan(3_050);
  // Text that only begins like a picture is read by the model, and counts.
  expect(estimatePrompt({ messages: [{ content: `data:image/png;base64,${"word ".repeat(1_000)}` }] })).toBeGreaterThan(1_000);
  expect(estimatePrompt({ prompt: [1, 2, 3, 4] })).toBe(4);
  let deep: unknown = "word";
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  expect(estimatePrompt(deep)).toBe(1);
});

test("the response reserves the request's maximum, up to a limit, or a typical length if there is no maximum", () => {
  const reserved = (body: Record<string, unknown>) => estimateCompletion(body).reserved;
  expect(reserved({})).toBe(1_000);
  expect(reserved({ max_tokens: 50 })).toBe(50);
  expect(reserved({ max_tokens: 50, max_completion_tokens: 70 })).toBe(70);
  expect(reserved({ max_output_tokens: 20, n: 3 })).toBe(60);
  expect(reserved({ max_tokens: 1e9, n: 1e9 })).toBe(100_000);
  for (const odd of [{ max_tokens: -5 }, { max_tokens: "many" }, { n: -1 }, { n: null }]) expect(reserved(odd)).toBe(1_000);
  expect(estimateCompletion({ max_tokens: 50, n: 2 })).toEqual({ reserved: 100, perSecond: 200 });
});
