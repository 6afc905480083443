import { describeScope } from "@keyhook/sdk";
import type { ConnectedApp } from "#core/oauth/consents/list-consents.ts";
import { requiredScopes } from "#core/oauth/scopes.ts";
import { SubmitButton } from "../../_components/action-form.client.tsx";
import { FormDetails } from "../../_components/details-form.client.tsx";
import { CancelButton } from "../../_components/disclosure.client.tsx";
import { ChoiceRow } from "../../_components/fields.client.tsx";
import { narrowAction } from "../actions.ts";

export type Membership = Readonly<{ id: string; name: string; fullName: string }>;

type ChangeAccessProps = Readonly<{
  app: ConnectedApp;
  page: number;
  memberships: readonly Membership[];
}>;

/** Renders nothing if the app has only the scopes that a sign-in needs, and no organization. */
export function ChangeAccess({ app, page, memberships }: ChangeAccessProps) {
  const scopes = app.scopes.filter((scope) => !requiredScopes.includes(scope));
  const organizations = app.isAllOrgs ? memberships : app.organizations;
  if (scopes.length === 0 && organizations.length === 0) return null;
  return (
    <FormDetails
      action={narrowAction.bind(null, app.consentId)}
      label={`Access of ${app.name}`}
      trigger={
        <>
          Reduce access<span className="sr-only"> of {app.name}</span>
        </>
      }
      look={{ size: "small" }}
    >
      <input type="hidden" name="page" value={page} />
      <p className="text-muted text-small">
        Deselect what the app should no longer be able to do. To grant more access, sign in to the app again.
      </p>
      {scopes.length > 0 && (
        <fieldset>
          <legend className="font-medium">It can</legend>
          {scopes.map((scope) => (
            <ChoiceRow
              key={scope}
              type="checkbox"
              name="scope"
              value={scope}
              label={describeScope(scope).sentence}
              defaultChecked
            />
          ))}
        </fieldset>
      )}
      {organizations.length > 0 && (
        <fieldset className="group/all">
          <legend className="font-medium">In organizations</legend>
          {app.isAllOrgs && (
            <ChoiceRow type="checkbox" name="all_organizations" label="All current and future organizations" defaultChecked />
          )}
          <div className="group-has-[[name^=all]:checked]/all:hidden">
            {organizations.map(({ id, fullName }) => (
              <ChoiceRow key={id} type="checkbox" name="organization" value={id} label={<bdi>{fullName}</bdi>} defaultChecked />
            ))}
          </div>
        </fieldset>
      )}
      <div className="flex flex-wrap gap-2">
        <SubmitButton size="small">Save access</SubmitButton>
        <CancelButton size="small" />
      </div>
    </FormDetails>
  );
}
