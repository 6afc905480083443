import type { Command } from "commander";

export function commandsTable(program: Command): string {
  const rows = leavesOf(program).map(({ name, command }) => [
    `\`${[name, ...command.registeredArguments.map(argumentText)].join(" ")}\``,
    command.description(),
    optionsText(command),
  ]);
  return [
    "| Command | What it does | Options of its own |",
    "| --- | --- | --- |",
    ...rows.map((cells) => `| ${cells.map(escaped).join(" | ")} |`),
  ].join("\n");
}

const COMMON = new Set(["--url", "--token", "--format", "--json", "--quiet", "--no-truncate"]);

function leavesOf(command: Command, above = ""): { name: string; command: Command }[] {
  const shown = command.commands.filter((one) => one.name() !== "complete");
  return shown.flatMap((one) => {
    const name = [above, one.name()].filter(Boolean).join(" ");
    return one.commands.length > 0 ? leavesOf(one, name) : [{ name, command: one }];
  });
}

const argumentText = (argument: Command["registeredArguments"][number]): string => {
  const name = argument.name().toUpperCase() + (argument.variadic ? "…" : "");
  return argument.required ? name : `[${name}]`;
};

function optionsText(command: Command): string {
  // `--url` of a webhook and `--format` of a file are the command's own.
  const own = command.options.filter(({ long, description }) => !COMMON.has(long ?? "") || !isCommon(description));
  return own.map(({ long }) => `\`${long}\``).join(" ");
}

const isCommon = (description: string): boolean => /\(KEYHOOK_|^the output format|^short for|^do not shorten/.test(description);

const escaped = (text: string): string => text.replaceAll("|", "\\|");
