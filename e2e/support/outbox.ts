import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@playwright/test";
import type { Demo } from "./demo.ts";

/**
 * The link in an email to `recipient`, once the worker has written it to the outbox: the path within the service.
 * @param start of the path, if a user gets several emails
 */
export async function readLinkTo(
  { environment, origin }: Pick<Demo, "environment" | "origin">,
  recipient: string,
  start = "/",
): Promise<string> {
  const outbox = join(environment.DATA_DIR ?? "", "outbox");
  let link: string | undefined;
  await expect(() => {
    const letters = existsSync(outbox) ? readdirSync(outbox).filter((name) => name.endsWith(".eml")) : [];
    link = letters
      .map((name) => decode(readFileSync(join(outbox, name), "utf8")))
      .filter((text) => isTo(text, recipient))
      .map((text) => new RegExp(`${origin}(${start}\\S*)`).exec(text)?.[1])
      .find((path) => path !== undefined);
    expect(link, `a letter to ${recipient} with a link to ${start}…`).toBeDefined();
  }).toPass({ timeout: 15_000, intervals: [100, 250] });
  return link ?? "";
}

const isTo = (letter: string, recipient: string): boolean => new RegExp(`^To: .*${recipient}`, "im").test(letter);

/** Decodes quoted-printable: soft line breaks and escaped bytes (RFC 2045 §6.7). */
function decode(letter: string): string {
  return letter.replace(/=\r?\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}
