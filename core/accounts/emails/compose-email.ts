import { env } from "../../env.ts";

/** An email without its recipient. */
export type EmailContent = { subject: string; text: string };

/** The common form of all our emails: plain text with a greeting, paragraphs, and the sender. Links are on lines of their own. */
export function composeEmail(subject: string, recipientName: string, paragraphs: readonly string[]): EmailContent {
  const { BRAND_NAME, ORIGIN } = env();
  return { subject, text: `${[`Hello ${recipientName},`, ...paragraphs, `-- \n${BRAND_NAME}, ${ORIGIN}`].join("\n\n")}\n` };
}

/** An absolute URL of ours. */
export function link(path: string): string {
  return `${env().ORIGIN}${path}`;
}
