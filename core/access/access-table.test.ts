import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { accessTable } from "./access-table.ts";
import { rules } from "./rules.ts";

const DOCUMENT = join(import.meta.dirname, "../../docs/access.md");
const MARK = "<!-- npm run access-table -->\n";

test("S135 docs/access.md contains the table of core/access/rules.ts (UPDATE_EXAMPLES=1 updates it)", () => {
  const [prose = ""] = readFileSync(DOCUMENT, "utf8").split(MARK);
  const written = `${prose}${MARK}\n${accessTable()}\n`;
  if (process.env.UPDATE_EXAMPLES === "1") return writeFileSync(DOCUMENT, written);
  expect(readFileSync(DOCUMENT, "utf8")).toBe(written);
});

test("every action appears in the table of people and in the part about tokens", () => {
  const [people = "", tokens = ""] = accessTable().split("## With which scopes");
  for (const action of Object.keys(rules)) {
    expect([action, people.includes(`| \`${action}\` `)]).toEqual([action, true]);
    expect([action, tokens.includes(`\`${action}\``)]).toEqual([action, true]);
  }
});
