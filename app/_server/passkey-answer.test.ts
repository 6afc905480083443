import { expect, test, vi } from "vitest";
import { passkeyAnswer } from "./passkey-answer.ts";
import { SubmittedForm } from "./submitted-form.ts";

const answered = (json: string) => {
  const data = new FormData();
  data.set("passkeyAnswer", json);
  return passkeyAnswer(new SubmittedForm(data));
};

test("S137 a response is parsed as JSON, unless it is longer than any valid response", () => {
  expect(answered('{"id":"a"}')).toEqual({ id: "a" });
  expect(answered("{")).toBeUndefined();
  const parse = vi.spyOn(JSON, "parse");
  expect(answered(`[${"1,".repeat(1_000_000)}1]`)).toBeUndefined();
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});
