import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { STRINGS, userStrings } from "../strings.ts";

test("docs/strings.txt lists the strings of the sources (npm run strings writes it)", () => {
  const written = userStrings();
  if (process.env.UPDATE_EXAMPLES === "1") return writeFileSync(STRINGS, written);
  expect(readFileSync(STRINGS, "utf8")).toBe(written);
});

test("the list has the text of a page with its inline elements, attributes, messages, emails and help", () => {
  const listed = readFileSync(STRINGS, "utf8").split("\n");
  for (const line of [
    "app/login/page.tsx",
    "  Forgot password?",
    "  Username or e-mail",
    "  Incorrect username or password.",
    "  Confirm your e-mail address for {BRAND_NAME}",
    "  list OAuth apps",
  ]) {
    expect(listed).toContain(line);
  }
  expect(listed.filter((line) => /className|flex items-center|SELECT /.test(line))).toEqual([]);
});
