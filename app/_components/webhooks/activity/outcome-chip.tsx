import type { AttemptOutcome, DeliveryState } from "#core/webhooks/vocabulary.ts";
import { Chip, type ChipProps } from "../../chip.tsx";

export type OutcomeChipProps = Readonly<{
  /** Of the delivery; left out for one attempt. */
  state?: DeliveryState;
  outcome: AttemptOutcome | null;
  /** HTTP. */
  status: number | null;
  /** The target is a job: there is no status. */
  isJob?: boolean;
}>;

/** How it went, in the target's own number where it gave one. */
export function OutcomeChip(props: OutcomeChipProps) {
  const { tone, text } = wordFor(props);
  return <Chip tone={tone}>{text}</Chip>;
}

function wordFor({ state, outcome, status, isJob }: OutcomeChipProps): { tone: ChipProps["tone"]; text: string } {
  if (state === "rate_limited") return { tone: "warn", text: "over limit" };
  if (state === "withheld" || outcome === "withheld") return { tone: "warn", text: "withheld" };
  if (outcome === null) return { tone: "neutral", text: "waiting" };
  if (outcome === "delivered") return { tone: "good", text: status === null ? (isJob ? "done" : "delivered") : String(status) };
  if (outcome === "rejected")
    return { tone: "bad", text: status === null ? (isJob ? "job failed" : "rejected") : String(status) };
  if (outcome === "blocked") return { tone: "bad", text: "blocked" };
  return { tone: "bad", text: isJob ? "not run" : "no answer" };
}
