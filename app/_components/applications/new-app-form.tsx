import { createAppAction } from "../../_server/applications/actions.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { ChoiceRow } from "../choice-row.client.tsx";
import { SectionCard } from "../section-card.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { AboutFields } from "./about-fields.tsx";
import { BehaviourChoices } from "./behaviour-choices.tsx";
import { MadeApp } from "./made-app.client.tsx";
import { RedirectFields } from "./redirect-fields.tsx";
import { ScopeChoices } from "./scope-choices.tsx";

export type NewAppFormProps = Readonly<{
  /** The organization that will own the app; null for the person's own. */
  organizationName: string | null;
  /** Where Cancel leads. */
  listPath: string;
}>;

/** Everything that a new app needs, with the safe answers given. */
export function NewAppForm({ organizationName, listPath }: NewAppFormProps) {
  return (
    <ActionForm action={createAppAction.bind(null, organizationName)} label="New app">
      <MadeApp>
        <SectionCard title="About the app" description="People see this when the app asks for their consent.">
          <div className="grid max-w-reading gap-5">
            <AboutFields />
          </div>
        </SectionCard>
        <SectionCard title="Kind of app">
          <div role="radiogroup" aria-label="Kind of app" className="grid gap-3 sm:grid-cols-2">
            <ChoiceRow
              type="radio"
              name="kind"
              value="public"
              label="Public"
              hint="Runs on people's machines: in the browser, on a phone, in a terminal. It has no secret; PKCE protects it."
              defaultChecked
              isBoxed
            />
            <ChoiceRow
              type="radio"
              name="kind"
              value="confidential"
              label="Confidential"
              hint="Runs on your server, which can keep a secret. You get one, and see it once."
              isBoxed
            />
          </div>
        </SectionCard>
        <SectionCard title="Addresses" description="People are sent back to these and to no other.">
          <div className="grid max-w-reading gap-5">
            <RedirectFields />
          </div>
        </SectionCard>
        <SectionCard title="Permissions" description="The most that the app may ask for. Each person decides what it gets.">
          <ScopeChoices chosen={["openid", "profile"]} />
        </SectionCard>
        <SectionCard title="Tokens">
          <BehaviourChoices isPkceRequired isRefreshAllowed={false} isDeviceFlowAllowed={false} mayDropPkce />
        </SectionCard>
        {organizationName && (
          <SectionCard title="Token exchange">
            <ChoiceRow
              type="checkbox"
              name="isBound"
              label={`Bind the app to ${organizationName}`}
              hint="For a program that acts for members without asking each of them, by their e-mail address. It needs a secret, the Enterprise plan and the operator's leave, and no redirect URI. You can bind it later too."
            />
          </SectionCard>
        )}
        <div className="flex flex-wrap gap-3">
          <SubmitButton>Create app</SubmitButton>
          <ButtonLink href={listPath}>Cancel</ButtonLink>
        </div>
      </MadeApp>
    </ActionForm>
  );
}
