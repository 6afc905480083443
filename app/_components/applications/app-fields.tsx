import { describeScope, type Scope, type ScopeGroup, scopes } from "@keyhook/sdk";
import { env } from "#core/env.ts";
import { Chip } from "../chip.tsx";
import { ChoiceRow, Field } from "../fields.client.tsx";
import { ImageField } from "../image-field.client.tsx";
import { scopeGroups } from "../scopes.tsx";
import { AppLogo } from "./app-logo.tsx";
import { RedirectUrisField } from "./redirect-uris-field.client.tsx";

type TokenFieldsProps = Readonly<{
  isPkceRequired: boolean;
  isRefreshAllowed: boolean;
  isDeviceFlowAllowed: boolean;
  /** Only an app with a secret or keys may turn PKCE off (S8). */
  mayDropPkce: boolean;
}>;

export function TokenFields(settings: TokenFieldsProps) {
  return (
    <div className="divide-y divide-line">
      <ChoiceRow
        type="checkbox"
        name="isPkceRequired"
        label="Require PKCE"
        hint={
          settings.mayDropPkce
            ? "Protects sign-in against stolen codes. Turn it off only if the app has a secret or keys and its library does not support PKCE."
            : "Always on for public apps: only PKCE ties a code to the app that requested it."
        }
        defaultChecked={settings.isPkceRequired}
        isDisabled={!settings.mayDropPkce}
      />
      <ChoiceRow
        type="checkbox"
        name="isRefreshAllowed"
        label="Always issue refresh tokens"
        hint={
          <>
            The app stays signed in after its access token has expired. Without this, it can still request the scope{" "}
            <code>offline_access</code>.
          </>
        }
        defaultChecked={settings.isRefreshAllowed}
      />
      <ChoiceRow
        type="checkbox"
        name="isDeviceFlowAllowed"
        label="Allow the device flow"
        hint="For command-line tools and devices without a browser: users enter a short code on another device. Needs no redirect URI, and always issues refresh tokens."
        defaultChecked={settings.isDeviceFlowAllowed}
      />
    </div>
  );
}

type AboutFieldsProps = Readonly<{
  app?: Readonly<{ name: string; logoId: string | null }>;
}>;

export function AboutFields({ app }: AboutFieldsProps) {
  return (
    <>
      <ImageField
        name="logo"
        label="Logo"
        current={<AppLogo app={app ?? { name: "A", logoId: null }} size="xl" />}
        removeName={app?.logoId ? "removeLogo" : undefined}
      />
      <Field name="name" label="Name" hint="At most 60 characters." autoComplete="off" />
      <Field name="homepageUrl" type="url" label="Homepage" isOptional autoComplete="off" placeholder="https://app.example.com" />
      <Field
        name="description"
        label="Description"
        hint="One sentence that says what the app is for."
        isOptional
        autoComplete="off"
      />
    </>
  );
}

export function RedirectFields() {
  const ownOrigin = env().ORIGIN;
  return (
    <>
      <RedirectUrisField
        name="redirectUris"
        label="After sign-in"
        hint="One per line, exactly as your app sends them. Any https URL; http on localhost, 127.0.0.1 or [::1], on any port; or your app's own scheme. An app that uses only the device flow or token exchange needs none."
        ownOrigin={ownOrigin}
        placeholder="https://app.example.com/oauth/callback"
      />
      <RedirectUrisField
        name="postLogoutRedirectUris"
        label="After sign-out"
        hint="Where your app may send users after it signs them out here."
        isOptional
        ownOrigin={ownOrigin}
        placeholder="https://app.example.com/"
      />
    </>
  );
}

const groupsOfApp: ReadonlyArray<Readonly<{ group: ScopeGroup; label: string }>> = [
  { group: "identity", label: "Who they are" },
  { group: "read", label: "Read" },
  { group: "write", label: "Write" },
  { group: "act", label: "Act for them" },
];

type ScopeChoicesProps = Readonly<{
  chosen: readonly string[];
  isForToken?: boolean;
}>;

export function ScopeChoices({ chosen, isForToken = false }: ScopeChoicesProps) {
  return (
    <div className="grid gap-x-8 gap-y-5 xl:grid-cols-2">
      {(isForToken ? scopeGroups : groupsOfApp).map(({ group, label }) => (
        <fieldset key={group} className="min-w-0">
          <legend className="pb-1 text-fine text-muted">{label}</legend>
          <div className="divide-y divide-line">
            {scopes
              .filter((scope) => describeScope(scope).group === group)
              .map((scope) => (
                <ScopeChoice key={scope} scope={scope} isChosen={chosen.includes(scope)} isForToken={isForToken} />
              ))}
          </div>
        </fieldset>
      ))}
    </div>
  );
}

function ScopeChoice({ scope, isChosen, isForToken }: Readonly<{ scope: Scope; isChosen: boolean; isForToken: boolean }>) {
  const { sentence, note, isDangerous } = describeScope(scope);
  return (
    <ChoiceRow
      type="checkbox"
      name="scopes"
      value={scope}
      defaultChecked={isChosen}
      label={
        <span className="flex flex-wrap items-center gap-x-2">
          {sentence} {isDangerous && <Chip tone="warn">Sensitive</Chip>}
        </span>
      }
      hint={
        <>
          <code>{scope}</code>
          {note && ` · ${isForToken ? note.replaceAll("the app", "the token") : note}`}
        </>
      }
    />
  );
}
