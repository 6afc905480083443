import { text } from "node:stream/consumers";
import { findOwner } from "#core/accounts/handles/find-owner.ts";
import { notFound } from "#core/errors.ts";
import { UsageError } from "./command.ts";

export function splitWords(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

export async function readSecret(value: string): Promise<string> {
  if (value !== "-") return value;
  return (await text(process.stdin)).replace(/\r?\n$/, "");
}

const PAGE_SIZE = 100;
export const pageOption = { value: "N", help: `the page, from 1; a page has ${PAGE_SIZE} entries` } as const;

export function readPage(page = "1"): { page: number; pageSize: number } {
  if (!/^[1-9]\d{0,5}$/.test(page)) throw new UsageError("--page must be a whole number, 1 or more.");
  return { page: Number(page), pageSize: PAGE_SIZE };
}

export async function findUserNamed(username: string): Promise<string> {
  const owner = await findOwner(username);
  if (owner?.kind !== "user") throw notFound(`User "${username}"`);
  return owner.id;
}

export async function findOrganizationNamed(name: string): Promise<string> {
  const owner = await findOwner(name);
  if (owner?.kind !== "organization") throw notFound(`Organization "${name}"`);
  return owner.id;
}
