import { env } from "../../env.ts";

export type EmailContent = { subject: string; text: string };

export function composeEmail(subject: string, recipientName: string, paragraphs: readonly string[]): EmailContent {
  const { BRAND_NAME, ORIGIN } = env();
  return { subject, text: `${[`Hello ${recipientName},`, ...paragraphs, `-- \n${BRAND_NAME}, ${ORIGIN}`].join("\n\n")}\n` };
}

export function link(path: string): string {
  return `${env().ORIGIN}${path}`;
}
