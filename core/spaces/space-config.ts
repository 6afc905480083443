import type { Repo } from "../hub/repos/repo.ts";

type SpaceConfig =
  /** The URL of a folder shows its file `index`. */
  { kind: "static"; index: string } | ServiceConfig | { kind: "unusable"; message: string };

export type ServiceConfig = {
  kind: "service";
  command: string[];
  appFile: string | undefined;
  port: number;
};

const APP_PORT = 7860;
const COMMAND_MAX = 64;
const TEXT_MAX_CHARACTERS = 4_096;

/** `sdk: node` runs `command` or `node <app_file>`. Without any `sdk`, the Space is static. */
export function readSpaceConfig({ card, sdk }: Pick<Repo, "card" | "sdk">): SpaceConfig {
  const { app_file: appFile, app_port: port = APP_PORT, command } = card ?? {};
  if (appFile !== undefined && !isPath(appFile)) return unusable("app_file must be a file of this repository, such as app.js.");
  if (sdk === null || sdk === "static") return { kind: "static", index: appFile ?? "index.html" };
  if (sdk !== "node") {
    return unusable(`This service supports Spaces with sdk: node and sdk: static, not ${sdk}.`);
  }
  if (!Number.isInteger(port) || Number(port) < 1 || Number(port) > 65_535)
    return unusable("app_port must be a number from 1 to 65535.");
  const words = command === undefined ? ["node", appFile ?? "app.js"] : wordsOf(command);
  if (!words) return unusable("command must be a line of text or a list of words, such as [node, server.js].");
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

function isPath(value: unknown): value is string {
  return isText(value) && value !== "" && value.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
