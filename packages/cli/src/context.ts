import { type Client, createClient } from "@keyhook/sdk";
import type { Command } from "commander";
import { findBaseUrl } from "./credentials/base-url.ts";
import { storedToken } from "./credentials/stored-token.ts";
import { BadInput } from "./errors.ts";
import { ask } from "./output/ask.ts";
import { chosenFormat, type FormatOptions } from "./output/format.ts";
import { createPrinter, type Printer } from "./output/printer.ts";
import { type Spinner, startSpinner } from "./output/spinner.ts";
import type { Terminal } from "./terminal.ts";
import { version } from "./version.ts";

export type CommonOptions = FormatOptions & { token?: string; truncate?: boolean };

/** What a command works with. */
export type Context = {
  terminal: Terminal;
  print: Printer;
  signal: AbortSignal;
  /** The origin of the service. */
  baseUrl: () => Promise<string>;
  /** The service, as the person whose token it is. */
  client: () => Promise<Client>;
  /** Shows what takes its time. */
  spin: (text: string) => Spinner;
  /**
   * Whether to go on. Without `--yes` people are asked, and programs told: nothing that cannot be undone happens by the way.
   * @throws Refused
   */
  confirm: (question: string, options: { yes?: boolean | undefined }) => Promise<void>;
};

/** Commands whose `--url` is something else than where the service is. */
const ownUrl = new WeakSet<Command>();
export const withOwnUrl = (command: Command): Command => {
  ownUrl.add(command);
  return command;
};
export const hasOwnUrl = (command: Command): boolean => ownUrl.has(command);

export function contextOf(command: Command, terminal: Terminal): Context {
  const program = rootOf(command);
  const [above, own]: CommonOptions[] = [program.opts(), command.opts()];
  // What stands nearer to the command counts.
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
        throw new BadInput("The token is empty or has characters that no token has.");
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

/** A command's work, with its options and arguments as they were parsed. */
export function act<Options extends object, Args extends unknown[]>(
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
