import { describe, expect, test } from "vitest";
import { command } from "./command.ts";
import { loadAllCommands, loadCommands } from "./commands.ts";
import { parseArguments } from "./parse-arguments.ts";

const commands = await loadAllCommands();

const sample = command({
  name: "kite fly",
  summary: "Flies a kite.",
  options: {
    owner: { value: "USER", help: "whose", isRequired: true },
    tail: { value: "COLOUR", help: "how", isRepeatable: true },
    wind: { value: "on|off", help: "whether", choices: ["on", "off"] },
    high: { help: "higher" },
  },
  run: async () => ({ json: {}, text: "" }),
});

test("every option gets its value, its list or its boolean", () => {
  const bare = parseArguments(["kite", "fly", "--owner", "mara"], [sample]);
  expect(bare).toMatchObject({ kind: "run", command: sample, isJson: false, values: { owner: "mara", tail: [], high: false } });
  const full = parseArguments(
    ["--json", "kite", "fly", "--owner=-m", "--tail", "red", "--tail=blue", "--wind", "off", "--high"],
    [sample],
  );
  expect(full).toMatchObject({ isJson: true, values: { owner: "-m", tail: ["red", "blue"], wind: "off", high: true } });
});

test("help works anywhere, for all commands or one", () => {
  for (const args of [[], ["help"], ["--help"], ["-h"], ["--json"]]) {
    expect(parseArguments(args, [sample])).toMatchObject({ kind: "help", command: undefined });
  }
  for (const args of [
    ["kite", "fly", "--help"],
    ["help", "kite", "fly"],
    ["kite", "fly", "--owner", "-h"],
  ]) {
    expect(parseArguments(args, [sample])).toMatchObject({ kind: "help", command: sample });
  }
});

describe("an invalid command line gets an error that says what to type:", () => {
  test.each([
    [["kite"], /There is no command "kite"\. Commands: kite fly\./],
    [["kite", "land"], /Commands: kite fly/],
    [["drop", "database"], /There is no command "drop database"/],
    [["kite", "fly"], /--owner USER is missing: whose/],
    [["kite", "fly", "--owner", ""], /--owner USER is missing/],
    [["kite", "fly", "--owner"], /--owner/],
    [["kite", "fly", "--owner", "--high"], /--owner/],
    [["kite", "fly", "--owner", "mara", "--color", "red"], /--color/],
    [["kite", "fly", "--owner", "mara", "extra"], /extra/],
    [["kite", "fly", "--owner", "mara", "--high=yes"], /--high/],
    [["kite", "fly", "--owner", "mara", "--wind", "maybe"], /--wind must be one of: on, off/],
  ])("%j", (args, reason) => {
    expect(() => parseArguments(args, [sample])).toThrow(reason);
    expect(() => parseArguments(args, [sample])).toThrow(expect.objectContaining({ name: "UsageError" }));
  });
});

test("no option of a command has the name of a common option", () => {
  for (const { options } of commands) expect(Object.keys(options)).not.toEqual(expect.arrayContaining(["json"]));
  expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
});

describe("a command's file is loaded by the command's name", () => {
  test.each(commands.map(({ name }) => name))("%s", async (name) => {
    expect((await loadCommands([...name.split(" "), "--json"])).map((command) => command.name)).toEqual([name]);
  });

  test.each([[], ["--help"], ["user"], ["--json", "user", "create"], ["constructor"], ["user", "delete"]].map((argv) => [argv]))(
    "all files are loaded for %j",
    async (argv) => {
      expect(await loadCommands(argv)).toHaveLength(commands.length);
    },
  );
});
