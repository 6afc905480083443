import { hasKeys } from "#core/oauth/apps/change-app.ts";
import type { AppDetails, KeyDescription } from "#core/oauth/apps/get-app.ts";
import {
  deleteKeysAction,
  setKeysAction,
  updateLogoutUriAction,
  updateProfileAction,
  updateRequirementsAction,
} from "../../_server/applications/actions.ts";
import { ActionForm, SubmitButton } from "../action-form.client.tsx";
import { ConfirmDestructive } from "../details-form.client.tsx";
import { ChoiceRow, Choices, Field } from "../fields.client.tsx";
import { SectionCard } from "../page-layout.tsx";
import { KeysForm } from "./keys-form.client.tsx";

type SecuritySectionProps = Readonly<{ details: AppDetails; isRecent: boolean }>;

export function SecuritySection({ details, isRecent }: SecuritySectionProps) {
  const { app } = details;
  return (
    <SectionCard
      title="Security"
      description="For apps that need more than PKCE and a secret. Your library must support each option that you turn on. All are off by default, except the rotation of refresh tokens for public apps."
    >
      <div className="grid gap-6">
        <ProfileForm app={app} />
        {app.securityProfile === "standard" && <RequirementsForm app={app} />}
        <KeysPart details={details} isRecent={isRecent} />
        <LogoutPart app={app} isRecent={isRecent} />
      </div>
    </SectionCard>
  );
}

type AppProps = Readonly<{ app: AppDetails["app"] }>;

const profiles = [
  {
    value: "standard",
    label: "Standard",
    hint: "The requirements that you select below, and those of OAuth 2.0 and OpenID Connect for every app.",
  },
  {
    value: "fapi2",
    label: "FAPI 2.0 Security Profile",
    hint: "For high-value data. The app authenticates with keys, pushes its requests, uses PKCE and binds its tokens to a key; everything else is refused.",
  },
];

function ProfileForm({ app }: AppProps) {
  return (
    <ActionForm action={updateProfileAction.bind(null, app.id)} label="Security profile" className="grid max-w-reading gap-4">
      <Choices legend="Security profile" name="securityProfile" options={profiles} defaultValue={app.securityProfile} />
      <SubmitButton variant="secondary">Save profile</SubmitButton>
    </ActionForm>
  );
}

function RequirementsForm({ app }: AppProps) {
  return (
    <ActionForm
      action={updateRequirementsAction.bind(null, app.id)}
      label="Requirements"
      className="grid gap-4 border-line border-t pt-5"
    >
      <div className="divide-y divide-line">
        <ChoiceRow
          type="checkbox"
          name="isParRequired"
          label="Require pushed requests (PAR)"
          hint="Your server sends each sign-in request directly to us and redirects users with a reference to it, so that nobody can read or change it on the way. Always available; when on, other requests are refused."
          defaultChecked={app.isParRequired}
        />
        <ChoiceRow
          type="checkbox"
          name="isDpopRequired"
          label="Require proof of possession (DPoP)"
          hint="Tokens work only with a key that your app holds, so a stolen token is useless. Always available; when on, the app gets no tokens without a proof."
          defaultChecked={app.isDpopRequired}
        />
        <ChoiceRow
          type="checkbox"
          name="isRefreshRotated"
          label="Rotate refresh tokens"
          hint="Each refresh gives the app a new refresh token and invalidates the old one. Always on for public apps whose tokens are not bound to a key; other apps need it only if a policy requires it."
          defaultChecked={app.isRefreshRotated}
        />
      </div>
      <SubmitButton variant="secondary">Save</SubmitButton>
    </ActionForm>
  );
}

function LogoutPart({ app, isRecent }: AppProps & Readonly<{ isRecent: boolean }>) {
  return (
    <div className="grid gap-3 border-line border-t pt-5">
      <h3 className="font-medium">Sign-out notice</h3>
      <p className="max-w-reading text-muted text-small">
        When a user's session here ends, we notify your server, so that it can sign them out too (OpenID Connect Back-Channel
        Logout).
      </p>
      {isRecent ? (
        <ActionForm
          action={updateLogoutUriAction.bind(null, app.id)}
          values={{ backchannelLogoutUri: app.backchannelLogoutUri ?? "" }}
          label="Sign-out notices"
          className="grid max-w-reading gap-4"
        >
          <Field
            name="backchannelLogoutUri"
            type="url"
            label="URL of your server"
            hint="Receives a signed logout token by POST. Leave empty to turn notices off."
            isOptional
            isMono
            placeholder="https://app.example.com/oauth/logout-notice"
          />
          <SubmitButton variant="secondary">Save URL</SubmitButton>
        </ActionForm>
      ) : (
        <p className="text-small">
          {app.backchannelLogoutUri ? <code className="break-all">{app.backchannelLogoutUri}</code> : "Off: no URL is set."}
        </p>
      )}
    </div>
  );
}

type KeysPartProps = Readonly<{ details: AppDetails; isRecent: boolean }>;

function KeysPart({ details: { app, keys, secrets, mayManageAccess }, isRecent }: KeysPartProps) {
  const isSet = hasKeys(app);
  return (
    <div id="keys" className="grid gap-3 border-line border-t pt-5">
      <h3 className="font-medium">Keys instead of a secret</h3>
      <p className="max-w-reading text-muted text-small">
        Your server signs a short message with a private key that never leaves it, and we verify it with the public key (
        <code>private_key_jwt</code>). No secret is sent or stored here. For apps on your own server.
      </p>
      {isSet && <CurrentKeys keys={keys} jwksUri={app.jwksUri} />}
      {!mayManageAccess && (
        <p className="max-w-reading text-muted text-small">
          The app is bound to an organization for token exchange. Only the organization's administrators can change how it
          authenticates.
        </p>
      )}
      {mayManageAccess && isRecent && (
        <>
          <KeysForm
            action={setKeysAction.bind(null, app.id)}
            isSet={isSet}
            hasSecret={secrets.length > 0}
            isBound={app.boundOrgId !== null}
          />
          {isSet && <DeleteKeys app={app} />}
        </>
      )}
    </div>
  );
}

export function DeleteKeys({ app }: AppProps) {
  if (app.securityProfile === "fapi2")
    return <p className="text-muted text-small">To delete the keys, choose the standard security profile first.</p>;
  return (
    <ConfirmDestructive
      action={deleteKeysAction.bind(null, app.id)}
      trigger="Delete keys"
      title={`Delete the keys of ${app.name}?`}
      confirm="Delete the keys"
    >
      The app can no longer authenticate with them. {app.name} becomes a public app that uses PKCE. You can then add a secret.
    </ConfirmDestructive>
  );
}

function CurrentKeys({ keys, jwksUri }: Readonly<{ keys: readonly KeyDescription[]; jwksUri: string | null }>) {
  if (jwksUri) {
    return (
      <p className="text-small">
        Read from <code className="break-all">{jwksUri}</code>
      </p>
    );
  }
  return (
    <ul className="grid max-w-reading gap-2">
      {keys.map(({ kid, algorithms, thumbprint }) => (
        <li key={kid} className="grid gap-0.5 rounded-control border border-line px-3 py-2 text-small">
          <span>
            <span className="text-muted">kid</span> <code className="break-all">{kid}</code>
          </span>
          <span>
            <span className="text-muted">signs with</span> {algorithms.join(" or ")}
          </span>
          {thumbprint !== kid && (
            <span>
              <span className="text-muted">thumbprint</span> <code className="break-all">{thumbprint}</code>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
