import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { findRefusals } from "#core/oauth/app-policy/app-policy.ts";
import { hasAskedForApp } from "#core/oauth/app-policy/ask-for-app.ts";
import { findClientRecord } from "#core/oauth/clients/client-records.ts";
import { ActionForm, SubmitButton } from "../../../_components/action-form.client.tsx";
import { AppLogo } from "../../../_components/applications/app-logo.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { refusalSentences } from "../../../_components/organization-wording.ts";
import { FormMessage, PageHeader, SectionCard } from "../../../_components/page-layout.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../../_server/organization-page.ts";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";
import { askForAppAction } from "../../actions.ts";

type Props = Readonly<{ params: OrganizationParams; searchParams: PageQuery }>;

export const metadata: Metadata = { title: "App request" };

export default async function AskForAppPage({ params, searchParams }: Props) {
  const [{ org }, query] = await Promise.all([params, searchParams]);
  const { organization, person, role } = await requireOrganizationPage(org);
  const clientId = textOf(query.client_id);
  const app = clientId.includes("\0") ? undefined : await findClientRecord(clientId);
  if (!app || !role) notFound();
  const [refusals, hasAsked] = await Promise.all([
    findRefusals(clientId, [organization.id]),
    hasAskedForApp(person, organization.id, clientId),
  ]);
  const refusal = refusals.get(organization.id);
  return (
    <>
      <PageHeader title="App request" description="The administrators of the organization decide which apps can access it." />
      <SectionCard
        title={
          <span className="flex items-center gap-3">
            <AppLogo app={app} />
            <bdi className="wrap-anywhere min-w-0">{app.name}</bdi>
          </span>
        }
      >
        <div className="grid max-w-reading gap-4">
          {hasAsked ? (
            <FormMessage tone="good">
              Your request was sent to the administrators of {organization.fullName}.{" "}
              {isMailSent() && "You get an e-mail when they decide. "}If they approve the app, sign in to it again. You can close
              this page.
            </FormMessage>
          ) : refusal === undefined ? (
            <FormMessage tone="good">
              {organization.fullName} allows this app. Sign in to it again and select the organization.
            </FormMessage>
          ) : (
            <p>
              <bdi>{organization.fullName}</bdi> {refusalSentences[refusal]}.
              {role === "admin"
                ? " You can change this in the app policy."
                : refusal !== "not_approved" && " Contact the organization's administrators if you need the app there."}
            </p>
          )}
          {!hasAsked && refusal === "not_approved" && role !== "admin" && (
            <ActionForm action={askForAppAction.bind(null, organization.name)} className="grid gap-3">
              <input type="hidden" name="clientId" value={clientId} />
              <p className="text-muted text-small">
                The administrators will see your name and the app's. You can continue in the app without the organization.
              </p>
              <SubmitButton>Ask the administrators</SubmitButton>
            </ActionForm>
          )}
          {role === "admin" && refusal !== undefined ? (
            <div>
              <ButtonLink href={organizationPath(organization.name, "settings/app-policy")}>Go to the app policy</ButtonLink>
            </div>
          ) : (
            (hasAsked || refusal !== "not_approved") && (
              <div>
                <ButtonLink href={organizationPath(organization.name)}>Go to the organization</ButtonLink>
              </div>
            )
          )}
        </div>
      </SectionCard>
    </>
  );
}
