import { type Letter, letter } from "#core/accounts/mails/letter.ts";
import type { AppDecision } from "../app-policies.ts";

type Answered = { greeted: string; organization: string; app: string; decision: AppDecision };

/** To a member who asked for an app. */
export function requestAnsweredLetter({ greeted, organization, app, decision }: Answered): Letter {
  if (decision === "blocked") {
    return letter(`"${app}" stays out of ${organization}`, greeted, [
      `the administrators of ${organization} have blocked the app "${app}", for which you asked. It reaches nothing of the organization.`,
    ]);
  }
  return letter(`"${app}" may be used in ${organization}`, greeted, [
    `the administrators of ${organization} have approved the app "${app}", for which you asked.`,
    "Sign in to it again and choose the organization when you are asked.",
  ]);
}
