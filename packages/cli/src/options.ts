import { type WatchedItemInput, watchTypes } from "@keyhook/sdk";
import { type Command, InvalidArgumentError } from "commander";

/** Errors of these parsers are shown beside the option, and the exit code is 2. */

export function watchedItem(text: string, before: WatchedItemInput[] = []): WatchedItemInput[] {
  const colon = text.indexOf(":");
  const type = watchTypes.find((one) => one === text.slice(0, colon));
  const name = text.slice(colon + 1);
  if (!type || name === "") throw new InvalidArgumentError(`Use type:name, where type is one of ${watchTypes.join(", ")}.`);
  return [...before, { type, name }];
}

export const many = (text: string, before: string[] = []): string[] => [...before, text];

export function oneOf<T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((one) => one === text);
    if (!word) throw new InvalidArgumentError(`Choose one of ${words.join(", ")}.`);
    return word;
  };
}

export const manyOf =
  <T extends string>(words: readonly T[]) =>
  (text: string, before: T[] = []): T[] => [...before, oneOf(words)(text)];

export function pair(text: string, before: Record<string, string> = {}): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("Write NAME=value.");
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0) throw new InvalidArgumentError("Use a whole number, 1 or more.");
  return Number(text);
}

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

export function duration(text: string): number {
  const [, amount, unit = "s"] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError("Use a duration such as 90s, 30m, 2h or 7d.");
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}

export function time(text: string): string {
  if (/^\d+[smhd]$/.test(text)) return new Date(Date.now() - duration(text) * 1000).toISOString();
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new InvalidArgumentError("Use a time such as 2026-11-22T09:30:00Z, or a period before now such as 2h.");
  return new Date(at).toISOString();
}

export function webAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError("Use a complete URL, such as https://hub.example.com.");
  return text;
}

export type OrganizationOption = { organization?: string };

export const withOrganization = (command: Command): Command =>
  command.option("--organization <name>", "use the resources of an organization instead of your own");
