import { env } from "../../env.ts";

/** A letter without its address. */
export type Letter = { subject: string; text: string };

/** The common form of all our mails: plain text, a greeting, paragraphs, and the sender. Links are on lines of their own. */
export function letter(subject: string, greeted: string, paragraphs: readonly string[]): Letter {
  const { BRAND_NAME, ORIGIN } = env();
  return { subject, text: `${[`Hello ${greeted},`, ...paragraphs, `-- \n${BRAND_NAME}, ${ORIGIN}`].join("\n\n")}\n` };
}

/** An absolute URL of ours. */
export function link(path: string): string {
  return `${env().ORIGIN}${path}`;
}
