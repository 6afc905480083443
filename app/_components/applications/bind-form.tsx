import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import { bindAction } from "../../_server/applications/exchange-actions.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ProveIdentity } from "../prove-identity.tsx";
import { Select } from "../select.client.tsx";
import { SubmitButton } from "../submit-button.client.tsx";

export type BindableOrganization = Readonly<{ id: string; name: string; fullName: string }>;

export type BindFormProps = Readonly<{
  app: AppDetails["app"];
  bindable: readonly BindableOrganization[];
  isRecent: boolean;
  page: string;
}>;

/** Binds the app to an organization: its owner, or one that the person administers. */
export function BindForm({ app, bindable, isRecent, page }: BindFormProps) {
  const [only, ...more] = bindable;
  if (!isRecent)
    return <ProveIdentity returnTo={page}>To bind the app to an organization, confirm that it is you.</ProveIdentity>;
  return (
    <ActionForm action={bindAction.bind(null, app.id)} label="Bind" className="grid max-w-reading gap-4">
      {more.length > 0 || !app.ownerOrgId ? (
        <Select
          name="orgId"
          label="Organization"
          options={bindable.map(({ id, fullName, name }) => ({ value: id, label: `${fullName} (${name})` }))}
          hint="Its administrators decide about the app's secret, scopes and token duration from then on."
        />
      ) : (
        <>
          <input type="hidden" name="orgId" value={only?.id} />
          <p className="text-muted text-small">
            The app is bound to no organization yet. Bind it to {only?.fullName}, then ask the operator for the privilege.
          </p>
        </>
      )}
      <div>
        <SubmitButton variant="secondary">
          {more.length > 0 || !app.ownerOrgId ? "Bind the app" : `Bind to ${only?.fullName}`}
        </SubmitButton>
      </div>
    </ActionForm>
  );
}
