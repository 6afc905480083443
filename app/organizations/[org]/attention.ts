import type { OrganizationOverview } from "#core/accounts/organizations/read-overview.ts";
import type { OrganizationPageName } from "../../_server/organization-page.ts";

export type Attention = Readonly<{ title: string; meta: string; page: OrganizationPageName; label: string }>;

const number = new Intl.NumberFormat("en");
const counted = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${number.format(count)} ${many}`;

/** What waits for the administrators, the most pressing first. */
export function attentionTo(
  { openInvitations, expiredInvitations, appRequests, heldBackMembers }: NonNullable<OrganizationOverview["waiting"]>,
  admins: number,
): Attention[] {
  const items: (Attention | false)[] = [
    appRequests > 0 && {
      title: counted(appRequests, "app waits for approval", "apps wait for approval"),
      meta: "Members asked for it where an app wanted to be let in.",
      page: "settings/app-policy",
      label: "Decide",
    },
    heldBackMembers > 0 && {
      title: counted(heldBackMembers, "member has not met the sign-in rules", "members have not met the sign-in rules"),
      meta: "Until they do, what is the organization's stays closed to them.",
      page: "settings/security",
      label: "Sign-in rules",
    },
    expiredInvitations > 0 && {
      title: counted(expiredInvitations, "invitation has expired", "invitations have expired"),
      meta: "Send it again, or take it back.",
      page: "members",
      label: "Invitations",
    },
    openInvitations > 0 && {
      title: counted(openInvitations, "open invitation", "open invitations"),
      meta: "Sent, and not answered yet.",
      page: "members",
      label: "Invitations",
    },
    admins === 1 && {
      title: "Only one administrator",
      meta: "If they lose their account, nobody can let them back in. Make a second member one.",
      page: "members",
      label: "Members",
    },
  ];
  return items.filter((item) => item !== false);
}
