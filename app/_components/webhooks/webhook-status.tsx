import type { DisabledReason } from "#core/webhooks/vocabulary.ts";
import { Chip } from "../chip.tsx";

export type WebhookStatusProps = Readonly<{
  /** Null while it is enabled. */
  disabledReason: DisabledReason | null;
}>;

const words = {
  owner: { tone: "neutral", text: "Disabled" },
  failing: { tone: "bad", text: "Suspended after failures" },
  gone: { tone: "bad", text: "Gone" },
  grant_ended: { tone: "bad", text: "Access ended" },
} as const;

/** Whether it tells anybody, and if not, whose doing that is. */
export function WebhookStatus({ disabledReason }: WebhookStatusProps) {
  if (disabledReason === null) return <Chip tone="good">Enabled</Chip>;
  const { tone, text } = words[disabledReason];
  return <Chip tone={tone}>{text}</Chip>;
}
