import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import {
  deleteAppAction,
  updateAboutAction,
  updatePermissionsAction,
  updateRedirectsAction,
} from "../../_server/applications/actions.ts";
import { updateScopesAction } from "../../_server/applications/exchange-actions.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ConfirmDestructive } from "../confirm-destructive.client.tsx";
import { ProveIdentity } from "../prove-identity.tsx";
import { SectionCard } from "../section-card.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { AboutFields } from "./about-fields.tsx";
import { countOfUsers } from "./app-list.tsx";
import { BehaviourChoices } from "./behaviour-choices.tsx";
import { RedirectFields } from "./redirect-fields.tsx";
import { ScopeChoices } from "./scope-choices.tsx";

export function AboutSection({ app }: Readonly<{ app: AppDetails["app"] }>) {
  const values = { name: app.name, homepageUrl: app.homepageUrl ?? "", description: app.description ?? "" };
  return (
    <SectionCard title="About the app" description="People see this when the app asks for their consent.">
      <ActionForm
        action={updateAboutAction.bind(null, app.id)}
        values={values}
        className="grid max-w-reading gap-5"
        label="About the app"
      >
        <AboutFields app={app} />
        <div>
          <SubmitButton variant="secondary">Save</SubmitButton>
        </div>
      </ActionForm>
    </SectionCard>
  );
}

export type SensitiveSectionProps = Readonly<{ app: AppDetails["app"]; isRecent: boolean; page: string }>;

/** A redirect URI decides who receives people's codes, so changing one needs a recent password (S113). */
export function RedirectsSection({ app, isRecent, page }: SensitiveSectionProps) {
  const values = {
    redirectUris: app.redirectUris.join("\n"),
    postLogoutRedirectUris: app.postLogoutRedirectUris.join("\n"),
  };
  return (
    <SectionCard title="Addresses" description="People are sent back to these and to no other.">
      {isRecent ? (
        <ActionForm
          action={updateRedirectsAction.bind(null, app.id)}
          values={values}
          className="grid max-w-reading gap-5"
          label="Addresses"
        >
          <RedirectFields />
          <div>
            <SubmitButton variant="secondary">Save</SubmitButton>
          </div>
        </ActionForm>
      ) : (
        <div className="grid gap-4">
          {app.redirectUris.length > 0 ? (
            <Addresses uris={app.redirectUris} />
          ) : (
            <p className="text-muted">None: the app signs people in by the device flow alone.</p>
          )}
          {app.postLogoutRedirectUris.length > 0 && <Addresses label="After signing out" uris={app.postLogoutRedirectUris} />}
          <ProveIdentity returnTo={page}>To change them, confirm that it is you.</ProveIdentity>
        </div>
      )}
    </SectionCard>
  );
}

function Addresses({ label, uris }: Readonly<{ label?: string; uris: readonly string[] }>) {
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
          ? "The most that the app may ask for. Each person who signs in decides what it gets; an exchanged token gets all of it unless it asks for less."
          : "The most that the app may ask for. Each person decides what it gets."
      }
    >
      <ActionForm action={updatePermissionsAction.bind(null, app.id)} label="Permissions and tokens">
        <ScopeChoices chosen={app.scopes} />
        <fieldset>
          <legend className="pb-1 text-fine text-muted">Tokens</legend>
          <BehaviourChoices
            isPkceRequired={app.isPkceRequired}
            isRefreshAllowed={app.isRefreshAllowed}
            isDeviceFlowAllowed={app.isDeviceFlowAllowed}
            mayDropPkce={isConfidential}
          />
        </fieldset>
        <div>
          <SubmitButton variant="secondary">Save</SubmitButton>
        </div>
      </ActionForm>
    </SectionCard>
  );
}

/** For administrators of the organization that another's app is bound to: what it gets for their members. */
export function ScopesSection({ app }: Readonly<{ app: AppDetails["app"] }>) {
  return (
    <SectionCard
      title="Allowed scopes"
      description="What an exchanged token may do for a member, and the most that one may ask for."
    >
      <ActionForm action={updateScopesAction.bind(null, app.id)} label="Allowed scopes">
        <ScopeChoices chosen={app.scopes} />
        <div>
          <SubmitButton variant="secondary">Save scopes</SubmitButton>
        </div>
      </ActionForm>
    </SectionCard>
  );
}

export type DeleteSectionProps = Readonly<{ details: AppDetails; isRecent: boolean; page: string }>;

export function DeleteSection({ details: { app, userCount }, isRecent, page }: DeleteSectionProps) {
  return (
    <SectionCard title="Delete the app" isDanger description="For good. A new app gets another client ID.">
      {isRecent ? (
        <ConfirmDestructive
          action={deleteAppAction.bind(null, app.id)}
          trigger="Delete app"
          title={`Delete ${app.name}?`}
          confirm={`Delete ${app.name}`}
          phrase={app.name}
        >
          Nobody can sign in to it any more, and all its tokens stop working at once ({countOfUsers(userCount)}).
        </ConfirmDestructive>
      ) : (
        <ProveIdentity returnTo={page}>To delete it, confirm that it is you.</ProveIdentity>
      )}
    </SectionCard>
  );
}
