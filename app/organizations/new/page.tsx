import type { Metadata } from "next";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { handleRule } from "../../_components/field-frame.tsx";
import { Field } from "../../_components/fields.client.tsx";
import { FormButtons } from "../../_components/form-buttons.tsx";
import { Card, PageHeader } from "../../_components/page-layout.tsx";
import { SiteFrame } from "../../_components/site-frame.tsx";
import { requireSession } from "../../_server/session.ts";
import { createOrganizationAction } from "../actions.ts";

export const metadata: Metadata = { title: "New organization" };

export default async function NewOrganizationPage() {
  await requireSession("/organizations/new");
  return (
    <SiteFrame width="reading">
      <PageHeader
        title="New organization"
        trail={[{ href: "/organizations", label: "Organizations" }]}
        description="You become its administrator and can invite others next."
      />
      <Card className="px-4 py-5 sm:px-5">
        <ActionForm action={createOrganizationAction}>
          <Field
            name="name"
            label="Name in URLs"
            hint={<>{handleRule} It cannot be changed later.</>}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={39}
          />
          <Field name="fullName" label="Full name" hint="The name that people see." autoComplete="organization" isOptional />
          <Field name="website" type="url" label="Website" autoComplete="url" placeholder="https://" isOptional />
          <FormButtons cancelHref="/organizations">Create organization</FormButtons>
        </ActionForm>
      </Card>
    </SiteFrame>
  );
}
