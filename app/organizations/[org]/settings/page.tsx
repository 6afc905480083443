import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { Avatar } from "../../../_components/avatar.tsx";
import { avatarSrc } from "../../../_components/avatar-src.ts";
import { ButtonLink } from "../../../_components/button.tsx";
import { Field } from "../../../_components/field.client.tsx";
import { ImageField } from "../../../_components/image-field.client.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { SubmitButton } from "../../../_components/submit-button.client.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../../_server/organization-page.ts";
import { updateOrganizationAction } from "./actions.ts";

type Props = Readonly<{ params: OrganizationParams }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { organization } = await requireOrganizationPage((await params).org);
  return { title: `Profile · ${organization.fullName}` };
}

export default async function OrganizationSettingsPage({ params }: Props) {
  const { organization, isManager } = await requireOrganizationPage((await params).org);
  const { name, fullName, website, email, avatarId } = organization;
  if (!isManager) redirect(organizationPath(name, "members"));
  return (
    <>
      <PageHeader
        title="Profile"
        description="What others see of the organization, here and in the apps that are let into it."
        actions={<ButtonLink href={`/${name}`}>View profile</ButtonLink>}
      />
      <SectionCard title="About the organization">
        <ActionForm
          action={updateOrganizationAction.bind(null, name)}
          values={{ fullName, website: website ?? "", email: email ?? "" }}
          className="grid max-w-reading gap-5"
        >
          <ImageField
            name="logo"
            label="Logo"
            current={<Avatar name={fullName} src={avatarSrc(name, avatarId)} size="xl" kind="organization" />}
            removeName={avatarId ? "removeLogo" : undefined}
          />
          <Field name="fullName" label="Full name" autoComplete="organization" />
          <div className="grid gap-1.5">
            <span className="font-medium">Name in addresses</span>
            <p className="flex min-h-10 items-center rounded-control border border-line bg-sunken px-3">{name}</p>
            <p className="text-muted text-small">
              It is part of the addresses of what the organization owns, so it stays as it is.
            </p>
          </div>
          <Field name="website" type="url" label="Website" autoComplete="url" placeholder="https://" isOptional />
          <Field
            name="email"
            type="email"
            label="Contact e-mail"
            hint="Shown to apps that a member lets into the organization."
            autoComplete="off"
            isOptional
          />
          <div>
            <SubmitButton>Save</SubmitButton>
          </div>
        </ActionForm>
      </SectionCard>
    </>
  );
}
