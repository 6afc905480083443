import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import { updateLogoutUriAction, updateRequirementsAction } from "../../_server/applications/security-actions.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ChoiceRow } from "../choice-row.client.tsx";
import { Field } from "../field.client.tsx";
import { ProveIdentity } from "../prove-identity.tsx";
import { SectionCard } from "../section-card.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { KeysPart } from "./keys-part.tsx";

export type SecuritySectionProps = Readonly<{ details: AppDetails; isRecent: boolean; page: string }>;

/** What an app may ask of its own security beyond a secret and PKCE. */
export function SecuritySection({ details, isRecent, page }: SecuritySectionProps) {
  const { app } = details;
  return (
    <SectionCard
      title="Security"
      description="For apps that need more than PKCE and a secret. Each part needs support in your library, and is off until you switch it on."
    >
      <div className="grid gap-6">
        <ActionForm action={updateRequirementsAction.bind(null, app.id)} label="Requirements" className="grid gap-4">
          <div className="divide-y divide-line">
            <ChoiceRow
              type="checkbox"
              name="isParRequired"
              label="Require pushed requests (PAR)"
              hint="Your server hands us each sign-in request itself and sends people on with a reference to it, so that nobody can read or change it on the way. Works as soon as your app does it; with this on, requests of the usual kind are refused."
              defaultChecked={app.isParRequired}
            />
            <ChoiceRow
              type="checkbox"
              name="isDpopRequired"
              label="Require proof of possession (DPoP)"
              hint="Tokens work only together with a key that your app holds, so that a stolen token is of no use. Works as soon as your app sends proofs; with this on, it gets no token without one."
              defaultChecked={app.isDpopRequired}
            />
          </div>
          <div>
            <SubmitButton variant="secondary">Save</SubmitButton>
          </div>
        </ActionForm>
        <KeysPart details={details} isRecent={isRecent} />
        <LogoutPart app={app} isRecent={isRecent} />
        {!isRecent && (
          <ProveIdentity returnTo={page}>To change the keys or the sign-out address, confirm that it is you.</ProveIdentity>
        )}
      </div>
    </SectionCard>
  );
}

function LogoutPart({ app, isRecent }: Readonly<{ app: AppDetails["app"]; isRecent: boolean }>) {
  return (
    <div className="grid gap-3 border-line border-t pt-5">
      <h3 className="font-medium">Sign-out notice</h3>
      <p className="max-w-reading text-muted text-small">
        When a person's session here ends, we tell your server, so that it can sign them out as well (OpenID Connect Back-Channel
        Logout). For apps in which a forgotten session would do harm.
      </p>
      {isRecent ? (
        <ActionForm
          action={updateLogoutUriAction.bind(null, app.id)}
          values={{ backchannelLogoutUri: app.backchannelLogoutUri ?? "" }}
          label="Sign-out notice"
          className="grid max-w-reading gap-4"
        >
          <Field
            name="backchannelLogoutUri"
            type="url"
            label="Address of your server"
            hint="It receives a signed logout token by POST. Empty for no notices."
            isOptional
            isMono
            autoComplete="off"
            placeholder="https://app.example.com/oauth/logout-notice"
          />
          <div>
            <SubmitButton variant="secondary">Save address</SubmitButton>
          </div>
        </ActionForm>
      ) : (
        <p className="text-small">
          {app.backchannelLogoutUri ? <code className="break-all">{app.backchannelLogoutUri}</code> : "Off: no address is set."}
        </p>
      )}
    </div>
  );
}
