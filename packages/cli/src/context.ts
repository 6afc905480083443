import { readFileSync } from "node:fs";
import { type Client, createClient } from "@keyhook/sdk";
import type { Command } from "commander";
import { findBaseUrl } from "./credentials/credentials-file.ts";
import { storedToken } from "./credentials/stored-token.ts";
import { BadInput } from "./errors.ts";
import { ask, type Spinner, startSpinner } from "./output/interaction.ts";
import { chosenFormat, createPrinter, type FormatOptions, type Printer } from "./output/printer.ts";
import type { Terminal } from "./terminal.ts";

/** The file is not imported, because older versions of Node print a warning about imported JSON modules. */
export const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };

export type CommonOptions = FormatOptions & { token?: string; truncate?: boolean };

export type Context = {
  terminal: Terminal;
  print: Printer;
  signal: AbortSignal;
  baseUrl: () => Promise<string>;
  client: () => Promise<Client>;
  spin: (text: string) => Spinner;
  /** Asks unless `--yes` was given. Throws `Refused` if the answer is no, or if nobody can be asked. */
  confirm: (question: string, options: { yes?: boolean | undefined }) => Promise<void>;
};

/** Commands whose `--url` is not the URL of the service. */
const ownUrl = new WeakSet<Command>();
export const withOwnUrl = (command: Command): Command => {
  ownUrl.add(command);
  return command;
};
export const hasOwnUrl = (command: Command): boolean => ownUrl.has(command);

export function contextOf(command: Command, terminal: Terminal): Context {
  const program = rootOf(command);
  const [above, own]: CommonOptions[] = [program.opts(), command.opts()];
  const options = { ...above, ...own, truncate: above?.truncate !== false && own?.truncate !== false };
  const format = chosenFormat(options, terminal);
  const print = createPrinter(terminal, { format, isCutAllowed: options.truncate });
  const url: string | undefined = (hasOwnUrl(command) ? undefined : command.opts().url) ?? program.opts().url;
  let origin: Promise<string> | undefined;
  const baseUrl = () => {
    origin ??= findBaseUrl(terminal, url);
    return origin;
  };
  return {
    terminal,
    print,
    signal: terminal.signal,
    baseUrl,
    async client() {
      const at = await baseUrl();
      const given = options.token ?? terminal.env.KEYHOOK_TOKEN;
      if (given !== undefined && !/^[\x21-\x7e]+$/.test(given))
        throw new BadInput("The token is empty or contains characters that no token has.");
      return createClient({
        baseUrl: at,
        token: given ?? storedToken(terminal, at),
        userAgent: `keyhook-cli/${version}`,
      });
    },
    spin: (text) => startSpinner(terminal, format, text),
    confirm: (question, { yes }) => ask(terminal, format, question, yes),
  };
}

export function actionOf<Options extends object, Args extends unknown[]>(
  terminal: Terminal,
  work: (at: Context, options: Options, ...args: Args) => Promise<void>,
): (...given: unknown[]) => Promise<void> {
  return (...given) => {
    const command = given.at(-1) as Command;
    return work(contextOf(command, terminal), command.opts() as Options, ...(command.processedArgs as Args));
  };
}

function rootOf(command: Command): Command {
  return command.parent ? rootOf(command.parent) : command;
}
