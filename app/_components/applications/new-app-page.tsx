import type { Metadata } from "next";
import { createAppAction } from "../../_server/applications/actions.ts";
import { findAppsPage } from "../../_server/applications/find-app.ts";
import type { OwnerPageProps } from "../../_server/owner-page.ts";
import { appListPath, type OwnerName } from "../../_server/paths.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ChoiceRow, Choices } from "../fields.client.tsx";
import { FormButtons } from "../form-buttons.tsx";
import { PageHeader, SectionCard } from "../page-layout.tsx";
import { AboutFields, RedirectFields, ScopeChoices, TokenFields } from "./app-fields.tsx";
import { CreatedApp } from "./created-app.client.tsx";

export const metadata: Metadata = { title: "New app" };

export async function NewAppPage({ params }: OwnerPageProps) {
  const { home, fullName } = await findAppsPage((await params).org ?? null, "applications/new");
  const listPath = appListPath(home);
  return (
    <>
      <PageHeader trail={[{ href: listPath, label: "OAuth apps" }]} title="New app" />
      <NewAppForm home={home} organizationName={fullName} listPath={listPath} />
    </>
  );
}

type NewAppFormProps = Readonly<{
  home: OwnerName;
  organizationName: string | null;
  listPath: string;
}>;

function NewAppForm({ home, organizationName, listPath }: NewAppFormProps) {
  return (
    <ActionForm action={createAppAction.bind(null, home)} label="New app">
      <CreatedApp>
        <SectionCard title="About the app" description="Shown to users on the consent page.">
          <div className="grid max-w-reading gap-5">
            <AboutFields />
          </div>
        </SectionCard>
        <SectionCard title="Kind of app">
          <Choices
            legend="Kind of app"
            isLegendHidden
            name="kind"
            defaultValue="public"
            className="sm:grid-cols-2"
            options={[
              {
                value: "public",
                label: "Public",
                hint: "Runs on users' machines: in a browser, on a phone, in a terminal. It has no secret; PKCE protects it.",
              },
              {
                value: "confidential",
                label: "Confidential",
                hint: "Runs on your server, which can keep a secret. The secret is shown once.",
              },
            ]}
          />
        </SectionCard>
        <SectionCard title="Redirect URIs" description="Users are redirected to these URIs and to no others.">
          <div className="grid max-w-reading gap-5">
            <RedirectFields />
          </div>
        </SectionCard>
        <SectionCard title="Permissions" description="The scopes the app may request. Each user decides which to grant.">
          <ScopeChoices chosen={["openid", "profile"]} />
        </SectionCard>
        <SectionCard title="Tokens">
          <TokenFields isPkceRequired isRefreshAllowed={false} isDeviceFlowAllowed={false} mayDropPkce />
        </SectionCard>
        {organizationName && (
          <SectionCard title="Token exchange">
            <ChoiceRow
              type="checkbox"
              name="isBound"
              label={`Bind the app to ${organizationName}`}
              hint="For a program that identifies members by e-mail address and acts for them without asking each one. Requires a secret, the Enterprise or Plus plan, and the operator's approval, but no redirect URI. You can also bind it later."
            />
          </SectionCard>
        )}
        <p className="text-muted text-small">You can change all of this later.</p>
        <FormButtons cancelHref={listPath}>Create app</FormButtons>
      </CreatedApp>
    </ActionForm>
  );
}
