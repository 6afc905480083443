import Link from "next/link";
import { listSoleAdministrations } from "#core/accounts/organizations/list-sole-administrations.ts";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { organizationPath } from "../../_server/organization-page.ts";
import type { SiteSession } from "../../_server/session.ts";
import { deleteAccountAction } from "./actions.ts";

export async function DeleteSection({ user }: Readonly<{ user: SiteSession["user"] }>) {
  const held = await listSoleAdministrations(user.id);
  return (
    <SectionCard title="Delete account" isDanger description="For good. Nobody, not even you, can take your username again.">
      {held.length > 0 ? (
        <FormMessage>
          <p>
            You are the only administrator of {held.length === 1 ? "an organization" : "organizations"}. Hand over or delete{" "}
            {held.length === 1 ? "it" : "each"} before your account can go:
          </p>
          <ul className="mt-1 grid gap-0.5">
            {held.map(({ name, fullName }) => (
              <li key={name}>
                <Link prefetch={false} className="link" href={organizationPath(name, "settings/ownership")}>
                  <bdi>{fullName}</bdi>
                </Link>
              </li>
            ))}
          </ul>
        </FormMessage>
      ) : (
        <ConfirmDestructive
          action={deleteAccountAction}
          trigger="Delete my account"
          title={`Delete the account ${user.username}?`}
          confirm={`Delete ${user.username}`}
          phrase={user.username}
        >
          Your sessions, access tokens and memberships end at once, the apps that you connected lose access, and the OAuth apps
          that you own stop working for everybody. Your repositories and collections are deleted; what you wrote in those of
          others stays, without your name.
        </ConfirmDestructive>
      )}
    </SectionCard>
  );
}
