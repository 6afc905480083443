import { type ParseArgsOptionDescriptor, parseArgs } from "node:util";
import { type Command, type Options, UsageError } from "./command.ts";

export type Request =
  | { kind: "help"; command?: Command; isJson: boolean }
  | { kind: "run"; command: Command; values: Record<string, unknown>; isJson: boolean };

const globalOptions = { json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;

/** `--json` counts even if the command line is invalid. */
export function wantsJson(argv: readonly string[]): boolean {
  return argv.includes("--json");
}

export function parseArguments(argv: readonly string[], commands: readonly Command[]): Request {
  const isJson = wantsJson(argv);
  const args = argv.filter((arg) => arg !== "--json");
  const isHelp = args.includes("--help") || args.includes("-h") || args[0] === "help" || args.length === 0;
  const words = args.filter((arg, at) => !(at === 0 && arg === "help"));
  const command = commands.find(({ name }) => name.split(" ").every((word, at) => words[at] === word));
  if (isHelp) return { kind: "help", command, isJson };
  if (!command) throw new UsageError(explainUnknown(words, commands));
  const values = parseValues(words.slice(command.name.split(" ").length), command);
  return { kind: "run", command, values, isJson };
}

function parseValues(args: string[], command: Command): Record<string, unknown> {
  const { values } = parse(args, command);
  for (const [name, option] of Object.entries(command.options)) {
    const given = values[name];
    if (option.isRequired && (given === undefined || given === "")) {
      throw new UsageError(`--${name} ${option.value} is missing: ${option.help}`);
    }
    if (option.choices && typeof given === "string" && !option.choices.includes(given)) {
      throw new UsageError(`--${name} must be one of: ${option.choices.join(", ")}`);
    }
    values[name] ??= option.isRepeatable ? [] : option.value === undefined ? false : undefined;
  }
  return values;
}

function parse(args: string[], command: Command): { values: Record<string, unknown> } {
  try {
    return parseArgs({ args, options: { ...descriptors(command.options), ...globalOptions }, strict: true });
  } catch (error) {
    // Node's own message names the wrong option and says how to write a value that begins with a dash.
    throw new UsageError((error as Error).message);
  }
}

function descriptors(options: Options): Record<string, ParseArgsOptionDescriptor> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { value, isRepeatable = false }]) => [
      name,
      { type: value === undefined ? "boolean" : "string", multiple: isRepeatable },
    ]),
  );
}

function explainUnknown(words: readonly string[], commands: readonly Command[]): string {
  const typed = words.filter((word) => !word.startsWith("-")).slice(0, 2);
  const near = commands.filter(({ name }) => name.split(" ")[0] === typed[0]);
  const known = (near.length > 0 ? near : commands).map(({ name }) => name).join(", ");
  return `There is no command "${typed.join(" ")}". Commands: ${known}. Add "--help" to any of them for its options.`;
}
