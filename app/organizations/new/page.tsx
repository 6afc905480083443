import type { Metadata } from "next";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Card } from "../../_components/card.tsx";
import { Field } from "../../_components/field.client.tsx";
import { PageBody } from "../../_components/page-body.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { SiteFrame } from "../../_components/site-frame.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { requireSession } from "../../_server/session.ts";
import { createOrganizationAction } from "./actions.ts";

export const metadata: Metadata = { title: "New organization" };

export default async function NewOrganizationPage() {
  await requireSession("/organizations/new");
  return (
    <SiteFrame>
      <PageBody width="reading">
        <PageHeader
          title="New organization"
          trail={[{ href: "/organizations", label: "Organizations" }]}
          description="You become its administrator and can invite others next."
        />
        <Card className="px-4 py-5 sm:px-5">
          <ActionForm action={createOrganizationAction}>
            <Field
              name="name"
              label="Name in addresses"
              hint="Letters, digits and single . _ or - between them. It stays as it is, so choose well."
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={39}
            />
            <Field name="fullName" label="Full name" hint="What people read." autoComplete="organization" isOptional />
            <Field name="website" type="url" label="Website" autoComplete="url" placeholder="https://" isOptional />
            <div className="flex flex-wrap gap-3">
              <SubmitButton>Create organization</SubmitButton>
              <ButtonLink href="/organizations" variant="quiet">
                Cancel
              </ButtonLink>
            </div>
          </ActionForm>
        </Card>
      </PageBody>
    </SiteFrame>
  );
}
