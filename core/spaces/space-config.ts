import type { Repo } from "../hub/repos/repo.ts";

/** What a Space's front matter asks for. */
export type SpaceConfig =
  /** Its files as they are, from this folder (empty: the root), this one for the folder itself. */
  | { kind: "static"; index: string }
  | ServiceConfig
  /** Nothing that could run here. */
  | { kind: "unusable"; message: string };

export type ServiceConfig = {
  kind: "service";
  /** What is started in the folder of its files. */
  command: string[];
  /** The file that has to be there for it, where the command is ours. */
  appFile: string | undefined;
  /** Where it listens, on the loopback of its sandbox. */
  port: number;
};

/** Where an app listens unless its front matter says otherwise; the public hub's number. */
export const APP_PORT = 7860;
const COMMAND_MAX = 64;
const TEXT_MAX_CHARACTERS = 4_096;

/**
 * Reads what `sdk`, `app_file`, `app_port` and `command` of the front matter ask for.
 *
 * `sdk: node` runs `node <app_file>` (app.js), or `command`: a list of words, or a line for a shell. `sdk: static` shows files;
 * `app_file` (index.html) is what a folder shows. A Space that says neither is static if it was made as one.
 */
export function readSpaceConfig({ card, sdk }: Pick<Repo, "card" | "sdk">): SpaceConfig {
  const { app_file: appFile, app_port: port = APP_PORT, command } = card ?? {};
  if (appFile !== undefined && !isPath(appFile)) return unusable("app_file names a file of this repository, such as app.js.");
  if (sdk === null || sdk === "static") return { kind: "static", index: appFile ?? "index.html" };
  if (sdk !== "node") {
    return unusable(
      `This service runs Spaces with sdk: node, and shows those with sdk: static. It has nothing to run ${sdk} with.`,
    );
  }
  if (!Number.isInteger(port) || Number(port) < 1 || Number(port) > 65_535)
    return unusable("app_port is a number from 1 to 65535.");
  const words = command === undefined ? ["node", appFile ?? "app.js"] : wordsOf(command);
  if (!words) return unusable("command is a line of text, or a list of words such as [node, server.js].");
  return {
    kind: "service",
    command: words,
    appFile: command === undefined ? (appFile ?? "app.js") : appFile,
    port: Number(port),
  };
}

const unusable = (message: string): SpaceConfig => ({ kind: "unusable", message });

function wordsOf(command: unknown): string[] | undefined {
  if (isText(command)) return command.trim() === "" ? undefined : ["sh", "-c", command];
  if (!Array.isArray(command) || command.length === 0 || command.length > COMMAND_MAX || command[0] === "") return undefined;
  const words = command.map((word) => (typeof word === "number" ? String(word) : word));
  return words.every(isText) ? words : undefined;
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= TEXT_MAX_CHARACTERS && !value.includes("\0") && value.isWellFormed();

/** A relative path that stays where it begins. */
function isPath(value: unknown): value is string {
  return isText(value) && value !== "" && value.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
