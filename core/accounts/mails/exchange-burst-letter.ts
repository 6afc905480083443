import { type Letter, letter, link } from "./letter.ts";

type Burst = { appId: string; name: string; issued: number; refused: number; minutes: number };

/** To an organization's administrators: one of their apps exchanges more tokens than usual. */
export function exchangeBurstLetter(burst: Burst, organization: { name: string; fullName: string }): Letter {
  const { appId, name, issued, refused, minutes } = burst;
  const base = `/organizations/${encodeURIComponent(organization.name)}`;
  return letter(`Unusually many token exchanges by ${name}`, "there", [
    `The app ${name} exchanged ${issued} tokens for members of ${organization.fullName} within ${minutes} minutes, and was refused ${refused} times. That is more than usual. If you do not know why, its secret may be in other hands:`,
    link(`${base}/settings/applications/${appId}`),
    "There you can refresh the secret, which shuts out whoever has the old one, or unbind the app, which ends all its tokens at once. The audit log has each exchange with its address:",
    link(`${base}/audit-log`),
    "You get this letter once a day at most for each app.",
  ]);
}
