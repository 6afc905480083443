import { type Letter, letter, link } from "../../accounts/mails/letter.ts";
import type { DisabledReason } from "../vocabulary.ts";

type Disabled = { webhookId: string; reason: Exclude<DisabledReason, "owner">; target: string; lastFailure: string | null };

/** To the owner of a webhook whose target no longer answers, or said that it is gone (S126). */
export function webhookDisabledLetter(disabled: Disabled, greeted: string, settings: string): Letter {
  const { webhookId, reason, target, lastFailure } = disabled;
  const why = {
    gone: "its target answered 410, which says that it is gone for good",
    failing: `every attempt of the last five days has failed. The last one: ${lastFailure ?? "no answer came"}`,
    grant_ended: "the access of the app or token that made the webhook has ended",
  }[reason];
  return letter(`Your webhook to ${target} is disabled`, greeted, [
    `nothing is sent to ${target} any more, because ${why}.`,
    reason === "grant_ended"
      ? "Deliveries that still wait are kept; events that happen while the webhook is disabled do not trigger it. To keep using the webhook in your own name, check where it sends events, then enable it here:"
      : "What was to be tried again waits; what happens while the webhook is disabled does not set it off. Once the target works again, enable the webhook here: what waits is then sent, and what has failed can be replayed:",
    link(`${settings}/${webhookId}`),
  ]);
}

/** To the same owner, once it delivers again. */
export function webhookRecoveredLetter(
  { webhookId, target }: { webhookId: string; target: string },
  greeted: string,
  settings: string,
): Letter {
  return letter(`Your webhook to ${target} delivers again`, greeted, [
    `the first delivery to ${target} since its webhook was enabled again has been answered. What failed before can be replayed from its activity:`,
    link(`${settings}/${webhookId}`),
  ]);
}
