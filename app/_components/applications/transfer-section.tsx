import type { Person } from "#core/access/actor.ts";
import { organizationsOf } from "#core/access/organizations-of.ts";
import { listOrganizations } from "#core/accounts/organizations/list-organizations.ts";
import { findUser } from "#core/accounts/users/find-user.ts";
import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import { transferAppAction } from "../../_server/applications/transfer-actions.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ProveIdentity } from "../prove-identity.tsx";
import { SectionCard } from "../section-card.tsx";
import { Select } from "../select.client.tsx";
import { SubmitButton } from "../submit-button.client.tsx";

export type TransferSectionProps = Readonly<{ details: AppDetails; person: Person; isRecent: boolean; page: string }>;

/** Gives the app to another owner; nothing is drawn for whoever has nowhere to give it to. */
export async function TransferSection({ details: { app, organization }, person, isRecent, page }: TransferSectionProps) {
  const options = await ownersBeside(person, organization?.name ?? null);
  if (options.length === 0) return null;
  return (
    <SectionCard
      title="Transfer"
      description="Who owns an app decides over it, with all others who administer the same organization."
    >
      {isRecent ? (
        <ActionForm action={transferAppAction.bind(null, app.id)} className="grid max-w-reading gap-5">
          <Select name="owner" label="New owner" options={options} />
          <p className="text-muted text-small">
            Its client ID, its users and their tokens stay.
            {app.verifiedAt && " The verified mark goes; the operator may give it again."} Whoever knows the secret still does:
            rotate it afterwards.
          </p>
          <div>
            <SubmitButton variant="secondary">Transfer app</SubmitButton>
          </div>
        </ActionForm>
      ) : (
        <ProveIdentity returnTo={page}>To give it to another owner, confirm that it is you.</ProveIdentity>
      )}
    </SectionCard>
  );
}

/** Oneself and the organizations that one administers, without the present owner. */
async function ownersBeside(person: Person, ownerName: string | null): Promise<{ value: string; label: string }[]> {
  const [user, organizations, allowed] = await Promise.all([
    findUser(person.userId),
    listOrganizations(person.userId),
    organizationsOf(person, "oauth_app.create"),
  ]);
  const own = user && ownerName !== null ? [{ value: user.username, label: `${user.username} (you)` }] : [];
  const administered = organizations.filter(({ id, name }) => allowed.includes(id) && name !== ownerName);
  return [
    ...own,
    ...administered.map(({ name, fullName }) => ({ value: name, label: fullName === name ? name : `${fullName} (${name})` })),
  ];
}
