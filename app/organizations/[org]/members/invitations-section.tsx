import { organizationRoles } from "@keyhook/sdk";
import type { Person } from "#core/access/actor.ts";
import type { Organization } from "#core/accounts/organizations/find-organization.ts";
import { listInvitations } from "#core/accounts/organizations/invitations/list-invitations.ts";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { Field } from "../../../_components/field.client.tsx";
import { List } from "../../../_components/list.tsx";
import { Pagination } from "../../../_components/pagination.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { Select } from "../../../_components/select.client.tsx";
import { SubmitButton } from "../../../_components/submit-button.client.tsx";
import { organizationPath } from "../../../_server/organization-page.ts";
import { inviteAction } from "./actions.ts";
import { InvitationRow } from "./invitation-row.tsx";

export type InvitationsSectionProps = Readonly<{
  organization: Organization;
  person: Person;
  /** Of the open invitations. */
  page: number;
}>;

const roleOptions = organizationRoles.map((role) => ({ value: role, label: role }));

/** Inviting somebody by e-mail, and the invitations that nobody has answered yet. */
export async function InvitationsSection({ organization, person, page }: InvitationsSectionProps) {
  const open = await listInvitations(person, organization.id, { page });
  const path = organizationPath(organization.name, "members");
  return (
    <div>
      <SectionCard title="Invite somebody" description="They get a link by e-mail, with or without an account here." isFlush>
        <div className="px-4 py-5 sm:px-5">
          <ActionForm
            action={inviteAction.bind(null, organization.name)}
            values={{ role: "read" }}
            className="grid items-start gap-5 sm:grid-cols-2"
          >
            <Field name="email" type="email" label="E-mail" autoComplete="off" autoCapitalize="none" spellCheck={false} />
            <Select
              name="role"
              label="Role"
              options={roleOptions}
              hint="read sees, contributor adds, write changes, admin decides"
            />
            <div className="sm:col-span-2">
              <SubmitButton>Send invitation</SubmitButton>
            </div>
          </ActionForm>
        </div>
        {open.items.length > 0 && (
          <section aria-labelledby="open-invitations" className="border-line border-t">
            <h3 id="open-invitations" className="px-4 pt-3.5 pb-1 text-fine text-muted sm:px-5">
              {open.total === 1 ? "1 open invitation" : `${open.total.toLocaleString("en")} open invitations`}
            </h3>
            <List>
              {open.items.map((invitation) => (
                <InvitationRow key={invitation.id} invitation={invitation} organizationName={organization.name} />
              ))}
            </List>
          </section>
        )}
      </SectionCard>
      <Pagination
        label="open invitations"
        page={open.page}
        pageSize={open.pageSize}
        total={open.total}
        hrefOf={(at) => `${path}?invitations=${at}`}
      />
    </div>
  );
}
