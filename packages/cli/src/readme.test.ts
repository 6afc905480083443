import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandsTable } from "../testing/commands-table.ts";
import { createProgram } from "./program.ts";

const README = join(import.meta.dirname, "../README.md");
const [BEGIN, END] = ["<!-- commands -->\n", "<!-- /commands -->"];

test("README.md lists the program's commands (UPDATE_EXAMPLES=1 writes it)", () => {
  const program = createProgram({} as never);
  const text = readFileSync(README, "utf8");
  const [before = "", rest = ""] = text.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const written = `${before}${BEGIN}\n${commandsTable(program)}\n\n${END}${after}`;
  if (process.env.UPDATE_EXAMPLES === "1") return writeFileSync(README, written);
  expect(text).toBe(written);
});

test("every command has a description and accepts the common options", () => {
  const program = createProgram({} as never);
  const leaves = program.commands.flatMap((one) => (one.commands.length > 0 ? one.commands : [one]));
  expect(leaves.length).toBeGreaterThan(30);
  for (const command of leaves) {
    expect([command.name(), command.description()]).toEqual([command.name(), expect.stringMatching(/\S/)]);
    if (["complete", "completion"].includes(command.name())) continue;
    const longs = command.options.map(({ long }) => long);
    expect([command.name(), longs]).toEqual([
      command.name(),
      expect.arrayContaining(["--token", "--format", "--json", "--quiet"]),
    ]);
  }
});
