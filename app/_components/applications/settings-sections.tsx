import type { Person } from "#core/access/actor.ts";
import { organizationsOf } from "#core/access/organizations-of.ts";
import { listOrganizations } from "#core/accounts/organizations/find-organization.ts";
import { findUser } from "#core/accounts/users/find-user.ts";
import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import {
  deleteAppAction,
  transferAppAction,
  updateAboutAction,
  updatePermissionsAction,
  updateRedirectsAction,
  updateScopesAction,
} from "../../_server/applications/actions.ts";
import { ActionForm, SubmitButton } from "../action-form.client.tsx";
import { Button } from "../button.tsx";
import { ConfirmDestructive } from "../details-form.client.tsx";
import { Select } from "../fields.client.tsx";
import { SectionCard } from "../page-layout.tsx";
import { AboutFields, RedirectFields, ScopeChoices, TokenFields } from "./app-fields.tsx";
import { countOfUsers } from "./app-list-page.tsx";

export function AboutSection({ app }: Readonly<{ app: AppDetails["app"] }>) {
  const values = { name: app.name, homepageUrl: app.homepageUrl ?? "", description: app.description ?? "" };
  return (
    <SectionCard title="About the app" description="Shown to users on the consent page.">
      <ActionForm
        action={updateAboutAction.bind(null, app.id)}
        values={values}
        className="grid max-w-reading gap-5"
        label="About the app"
      >
        <AboutFields app={app} />
        {app.verifiedAt && <LosesMark>A new name, homepage or logo</LosesMark>}
        <SubmitButton variant="secondary">Save</SubmitButton>
      </ActionForm>
    </SectionCard>
  );
}

/** A redirect URI decides who receives codes, so changing one needs recent authentication (S113). */
export function RedirectsSection({ app, isRecent }: Readonly<{ app: AppDetails["app"]; isRecent: boolean }>) {
  const values = {
    redirectUris: app.redirectUris.join("\n"),
    postLogoutRedirectUris: app.postLogoutRedirectUris.join("\n"),
  };
  return (
    <SectionCard title="Redirect URIs" description="Users are redirected to these URIs and to no others.">
      {isRecent ? (
        <ActionForm
          action={updateRedirectsAction.bind(null, app.id)}
          values={values}
          className="grid max-w-reading gap-5"
          label="Redirect URIs"
        >
          <RedirectFields />
          {app.verifiedAt && <LosesMark>A change of these URIs</LosesMark>}
          <SubmitButton variant="secondary">Save</SubmitButton>
        </ActionForm>
      ) : (
        <div className="grid gap-4">
          {app.redirectUris.length > 0 ? (
            <UriList uris={app.redirectUris} />
          ) : (
            <p className="text-muted">None: without one, an app can use only the device flow or token exchange.</p>
          )}
          {app.postLogoutRedirectUris.length > 0 && <UriList label="After sign-out" uris={app.postLogoutRedirectUris} />}
        </div>
      )}
    </SectionCard>
  );
}

function LosesMark({ children }: Readonly<{ children: string }>) {
  return <p className="text-muted text-small">{children} removes the verified mark until the operator verifies the app again.</p>;
}

function UriList({ label, uris }: Readonly<{ label?: string; uris: readonly string[] }>) {
  return (
    <div>
      {label && <h3 className="font-medium">{label}</h3>}
      <ul className="grid gap-1">
        {uris.map((uri) => (
          <li key={uri}>
            <code className="break-all">{uri}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function PermissionsSection({ details: { app, isConfidential } }: Readonly<{ details: AppDetails }>) {
  return (
    <SectionCard
      title="Permissions and tokens"
      description={
        app.boundOrgId
          ? "The scopes the app may request. Each user who signs in decides which to grant; an exchanged token gets all of them unless the app requests fewer."
          : "The scopes the app may request. Each user decides which to grant."
      }
    >
      <ActionForm action={updatePermissionsAction.bind(null, app.id)} label="Permissions and tokens">
        <ScopeChoices chosen={app.scopes} />
        <fieldset>
          <legend className="pb-1 text-fine text-muted">Tokens</legend>
          <TokenFields
            isPkceRequired={app.isPkceRequired}
            isRefreshAllowed={app.isRefreshAllowed}
            isDeviceFlowAllowed={app.isDeviceFlowAllowed}
            mayDropPkce={isConfidential}
          />
        </fieldset>
        {app.verifiedAt && <LosesMark>A change of the device flow</LosesMark>}
        <SubmitButton variant="secondary">Save</SubmitButton>
      </ActionForm>
    </SectionCard>
  );
}

export function ScopesSection({ app }: Readonly<{ app: AppDetails["app"] }>) {
  return (
    <SectionCard title="Allowed scopes" description="The scopes that the app may request for a member by token exchange.">
      <ActionForm action={updateScopesAction.bind(null, app.id)} label="Allowed scopes">
        <ScopeChoices chosen={app.scopes} />
        <SubmitButton variant="secondary">Save scopes</SubmitButton>
      </ActionForm>
    </SectionCard>
  );
}

type DeleteSectionProps = Readonly<{ details: AppDetails; isRecent: boolean }>;

export function DeleteSection({ details: { app, userCount }, isRecent }: DeleteSectionProps) {
  return (
    <SectionCard title="Deletion" isDanger description="This cannot be undone. A new app gets a different client ID.">
      {isRecent ? (
        <ConfirmDestructive
          action={deleteAppAction.bind(null, app.id)}
          trigger="Delete app"
          title={`Delete ${app.name}?`}
          confirm={`Delete ${app.name}`}
          phrase={app.name}
        >
          Nobody can sign in to it anymore{userCount > 0 && ` (${countOfUsers(userCount)})`}, and all its tokens stop working
          immediately.
        </ConfirmDestructive>
      ) : (
        <Button variant="danger" disabled>
          Delete app
        </Button>
      )}
    </SectionCard>
  );
}

type TransferSectionProps = Readonly<{ details: AppDetails; person: Person; isRecent: boolean }>;

export async function TransferSection({ details: { app, organization, secrets }, person, isRecent }: TransferSectionProps) {
  const options = await otherOwners(person, organization?.name ?? null);
  if (options.length === 0) return null;
  return (
    <SectionCard title="Transfer" description="The new owner, or the new organization's administrators, will manage the app.">
      {isRecent ? (
        <ActionForm action={transferAppAction.bind(null, app.id)} className="grid max-w-reading gap-5">
          <Select name="owner" label="New owner" options={options} />
          <p className="text-muted text-small">
            Its client ID, users and tokens stay the same.
            {app.verifiedAt && " It loses its verified mark until the operator verifies it again."}
            {secrets.length > 0 && " Anyone who knows its secret can still use the secret, so rotate it afterwards."}
          </p>
          <SubmitButton variant="secondary">Transfer app</SubmitButton>
        </ActionForm>
      ) : (
        <Button disabled>Transfer app</Button>
      )}
    </SectionCard>
  );
}

async function otherOwners(person: Person, ownerName: string | null): Promise<{ value: string; label: string }[]> {
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
