import { expect } from "@playwright/test";
import { admin } from "./admin.ts";
import type { Demo } from "./demo.ts";

/** Waits until the worker has stored the email. @param start the beginning of the path, to choose among several emails */
export async function readLinkTo(
  { environment, origin }: Pick<Demo, "environment" | "origin">,
  recipient: string,
  start = "/",
): Promise<string> {
  let link: string | undefined;
  await expect(async () => {
    const { letters } = await admin<{ letters: { text: string }[] }>({ environment }, "mail", "list", "--to", recipient);
    link = letters
      .toReversed()
      .map(({ text }) => new RegExp(`${origin}(${start}\\S*)`).exec(text)?.[1])
      .find((path) => path !== undefined);
    expect(link, `an email to ${recipient} with a link to ${start}…`).toBeDefined();
  }).toPass({ timeout: 15_000, intervals: [100, 250] });
  return link ?? "";
}
