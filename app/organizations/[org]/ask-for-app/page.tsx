import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { findRefusals } from "#core/oauth/app-policy/find-refusals.ts";
import { hasAskedForApp } from "#core/oauth/app-policy/has-asked-for-app.ts";
import { findClientRecord } from "#core/oauth/client-records.ts";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { refusalSentences } from "../../../_components/app-policy-sentences.ts";
import { AppLogo } from "../../../_components/applications/app-logo.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { FormMessage } from "../../../_components/form-message.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { SubmitButton } from "../../../_components/submit-button.client.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../../_server/organization-page.ts";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";
import { askForAppAction } from "./actions.ts";

type Props = Readonly<{ params: OrganizationParams; searchParams: PageQuery }>;

export const metadata: Metadata = { title: "Ask for an app" };

/** A member asks the administrators to let an app in, on the way from where the app wanted to be. */
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
      <PageHeader
        title="Ask for an app"
        description="The administrators of the organization decide which apps reach what is theirs."
      />
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
              The administrators of {organization.fullName} are asked. You get an e-mail when they have answered; then sign in to
              the app again. You can close this page.
            </FormMessage>
          ) : refusal === undefined ? (
            <FormMessage tone="good">
              {organization.fullName} lets this app in. Sign in to it again and choose the organization.
            </FormMessage>
          ) : (
            <p>
              <bdi>{organization.fullName}</bdi> {refusalSentences[refusal]}.
              {refusal !== "not_approved" && " Talk to its administrators if you need the app there."}
            </p>
          )}
          {!hasAsked && refusal === "not_approved" && (
            <ActionForm action={askForAppAction.bind(null, organization.name)} className="grid gap-3">
              <input type="hidden" name="clientId" value={clientId} />
              <p className="text-muted text-small">
                They see your name and the app's. You can go on in the app without the organization.
              </p>
              <div>
                <SubmitButton>Ask the administrators</SubmitButton>
              </div>
            </ActionForm>
          )}
          {(hasAsked || refusal !== "not_approved") && (
            <div>
              <ButtonLink href={organizationPath(organization.name)}>Go to the organization</ButtonLink>
            </div>
          )}
        </div>
      </SectionCard>
    </>
  );
}
