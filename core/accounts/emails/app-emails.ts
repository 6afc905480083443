import { counted } from "../../counted.ts";
import { composeEmail, type EmailContent, link } from "./compose-email.ts";

type App = { id: string; name: string; clientId: string };
type Organization = { name: string; fullName: string };

export function privilegeRequestEmail({ name, clientId }: App, organization: Organization): EmailContent {
  return composeEmail(`${organization.name} requests token exchange`, "there", [
    `The organization ${organization.fullName} (${organization.name}) requests permission for its app ${name} to get tokens for its members by token exchange. With this privilege, anyone who has the app's secret can act for any member within the organization.`,
    "Review the app and decide:",
    link(`/admin/apps?search=${encodeURIComponent(clientId)}`),
  ]);
}

export function privilegeGrantedEmail({ id, name }: App, organization: Organization): EmailContent {
  return composeEmail(`${name} can now get tokens for members of ${organization.name}`, "there", [
    `The operator has allowed the app ${name} to get tokens for members of ${organization.fullName} by token exchange. The app's page shows the token duration and the scopes, and has a command to try it:`,
    link(`/organizations/${encodeURIComponent(organization.name)}/settings/applications/${id}`),
    "Store the app's secret where only your server can read it: anyone who has it can act for any member within the organization.",
  ]);
}

type Burst = { appId: string; name: string; issued: number; refused: number; minutes: number };

export function exchangeBurstEmail(burst: Burst, organization: { name: string; fullName: string }): EmailContent {
  const { appId, name, issued, refused, minutes } = burst;
  const base = `/organizations/${encodeURIComponent(organization.name)}`;
  return composeEmail(`Unusually many token exchanges by ${name}`, "there", [
    `The app ${name} got ${counted(issued, "token")} for members of ${organization.fullName} by token exchange within ${minutes} minutes, and was refused ${counted(refused, "time")}. This is more than usual. If you do not know why, its secret may have leaked:`,
    link(`${base}/settings/applications/${appId}`),
    "There you can rotate the secret, so that the old one no longer works, or unbind the app, which revokes all its exchanged tokens at once. The audit log has each exchange with its IP address:",
    link(`${base}/audit-log`),
    "You get this e-mail at most once a day for each app.",
  ]);
}
