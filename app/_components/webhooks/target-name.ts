import type { Webhook } from "#core/webhooks/manage/webhook.ts";

/** Where a webhook sends, as its pages call it. The query is left out, which may be a key that somebody put there. */
export function targetName({ url, job }: Pick<Webhook, "url" | "job">): string {
  if (url !== null) return url.replace(/[?#].*$/s, (rest) => (rest === "?" || rest === "#" ? "" : `${rest[0]}…`));
  if (!job) return "A job";
  const [program = ""] = job.command;
  const place = job.spaceId ?? job.dockerImage ?? "";
  return [`Job`, [program, place && `in ${place}`].filter(Boolean).join(" ")].filter(Boolean).join(": ");
}
