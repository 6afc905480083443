import { type Gate, gates } from "@keyhook/sdk";
import { plainText } from "../../accounts/plain-text.ts";
import { invalidRequest } from "../../errors.ts";
import { isRefName } from "../git/refs/ref-name.ts";
import type { Repo } from "./repo.ts";

export const DESCRIPTION_MAX_CHARACTERS = 500;
export const GATE_PROMPT_MAX_CHARACTERS = 2_000;

export type RepoSettings = Pick<
  Repo,
  | "isPrivate"
  | "gated"
  | "gatePrompt"
  | "description"
  | "sdk"
  | "defaultBranch"
  | "isReadOnly"
  | "isDefaultBranchProtected"
  | "hasDiscussions"
>;

type Setting<Name extends keyof RepoSettings> = {
  /** See docs/specification/repositories-and-git.md#settings. */
  wireName: string;
  parse(value: unknown, repo: Repo): RepoSettings[Name];
  toWire?(value: RepoSettings[Name]): string | boolean | null;
};

const settings: { [Name in keyof RepoSettings]: Setting<Name> } = {
  isPrivate: { wireName: "private", parse: (value) => flag(value, "private") },
  gated: { wireName: "gated", parse: gate, toWire: (value) => (value === "none" ? false : value) },
  gatePrompt: { wireName: "gatePrompt", parse: (value) => longText(value, "gatePrompt", GATE_PROMPT_MAX_CHARACTERS) },
  description: { wireName: "description", parse: (value) => longText(value, "description", DESCRIPTION_MAX_CHARACTERS) },
  sdk: { wireName: "sdk", parse: (value, repo) => parseSdk(value, repo.type) },
  defaultBranch: { wireName: "defaultBranch", parse: branch },
  isReadOnly: { wireName: "readOnly", parse: (value) => flag(value, "readOnly") },
  isDefaultBranchProtected: { wireName: "defaultBranchProtected", parse: (value) => flag(value, "defaultBranchProtected") },
  hasDiscussions: {
    wireName: "discussionsDisabled",
    parse: (value) => flag(value, "discussionsDisabled"),
    toWire: (value) => !value,
  },
};

const names = Object.keys(settings) as (keyof RepoSettings)[];

/** @throws ServiceError `invalid_request` with the setting's name on the wire as `field` */
export function changedSettings(repo: Repo, wanted: Partial<Record<keyof RepoSettings, unknown>>): Partial<RepoSettings> {
  const changed = names
    .filter((name) => wanted[name] !== undefined)
    .map((name) => [name, settings[name].parse(wanted[name], repo)] as const)
    .filter(([name, value]) => repo[name] !== value);
  return Object.fromEntries(changed);
}

export function settingsToWire(changed: Partial<RepoSettings>): Record<string, string | boolean | null> {
  return Object.fromEntries(
    names
      .filter((name) => name in changed)
      .map((name) => {
        const { wireName, toWire } = settings[name] as Setting<typeof name>;
        const value = changed[name] as never;
        return [wireName, toWire ? toWire(value) : value];
      }),
  );
}

export function parseSdk(value: unknown, type: Repo["type"]): string | null {
  if (value === null || value === "") return null;
  if (type !== "space") throw invalidRequest("Only a Space has an SDK.", "sdk");
  const sdk = plainText("sdk", value, 1_000);
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(sdk)) {
    throw invalidRequest("Use at most 40 lower-case letters, digits and - for the SDK.", "sdk");
  }
  return sdk;
}

function flag(value: unknown, field: string): boolean {
  if (typeof value !== "boolean") throw invalidRequest("This must be true or false.", field);
  return value;
}

function gate(value: unknown): Gate {
  if (value === false) return "none";
  if (!gates.includes(value as Gate)) throw invalidRequest("Choose auto, manual, or false for no gate.", "gated");
  return value as Gate;
}

function longText(value: unknown, field: string, maxCharacters: number): string | null {
  return (value === null ? "" : plainText(field, value, maxCharacters)).normalize("NFC").trim() || null;
}

function branch(value: unknown): string {
  const name = plainText("defaultBranch", value, 200);
  if (!isRefName(name)) throw invalidRequest("This cannot be the name of a branch.", "defaultBranch");
  return name;
}
