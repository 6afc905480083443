import type { Command, Option, Options } from "./command.ts";

const CALL = "npm run --silent admin --";

const footer = `  --json         print JSON, errors too
  --help         explain

Exit codes: 0 done, 1 failed, 2 the command line was wrong.`;

export function helpText(commands: readonly Command[], command?: Command): string {
  if (!command) {
    const width = Math.max(...commands.map(({ name }) => name.length));
    const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join("\n");
    return `${CALL} <command> [options]\n\n${list}\n\n${footer}`;
  }
  const notes = command.notes ? `\n${command.notes.join("\n")}\n` : "";
  return `${CALL} ${command.name}${synopsis(command.options)}\n\n${command.summary}\n${notes}\n${optionLines(command.options)}
${footer}`;
}

export function helpJson(commands: readonly Command[], command?: Command): Record<string, unknown> {
  const outline = ({ name, summary, options }: Command) => ({ name, summary, options });
  return command ? outline(command) : { commands: commands.map(outline) };
}

function synopsis(options: Options): string {
  const all = Object.entries(options);
  const required = all.filter(([, { isRequired }]) => isRequired).map(([name, option]) => ` ${written(name, option)}`);
  return required.join("") + (all.length > required.length ? " [options]" : "");
}

function optionLines(options: Options): string {
  const all = Object.entries(options);
  const width = Math.max(13, ...all.map(([name, option]) => written(name, option).length));
  return all
    .map(
      ([name, option]) =>
        `  ${written(name, option).padEnd(width)}  ${option.help}${option.isRepeatable ? " (repeat for more)" : ""}\n`,
    )
    .join("");
}

function written(name: string, { value }: Option): string {
  return `--${name}${value ? ` ${value}` : ""}`;
}
