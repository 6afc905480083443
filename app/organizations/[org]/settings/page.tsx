import { redirect } from "next/navigation";
import { readDefaultVisibility } from "#core/accounts/organizations/default-visibility.ts";
import { ActionForm, SubmitButton } from "../../../_components/action-form.client.tsx";
import { Avatar, avatarSrc } from "../../../_components/avatar.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { Choices, Field } from "../../../_components/fields.client.tsx";
import { ImageField } from "../../../_components/image-field.client.tsx";
import { PageHeader, SectionCard } from "../../../_components/page-layout.tsx";
import {
  type OrganizationParams,
  organizationPath,
  organizationTitle,
  requireOrganizationPage,
} from "../../../_server/organization-page.ts";
import { setDefaultVisibilityAction, updateOrganizationAction } from "../../actions.ts";

type Props = Readonly<{ params: OrganizationParams }>;

export const generateMetadata = organizationTitle("Profile");

export default async function OrganizationSettingsPage({ params }: Props) {
  const { organization, person, isManager } = await requireOrganizationPage((await params).org);
  const { name, fullName, website, email, avatarId } = organization;
  if (!isManager) redirect(organizationPath(name, "members"));
  const defaultVisibility = await readDefaultVisibility(person, organization.id);
  return (
    <>
      <PageHeader
        title="Profile"
        description="What others see of the organization, here and in apps with access to it."
        actions={<ButtonLink href={`/${name}`}>View profile</ButtonLink>}
      />
      <div className="grid gap-5">
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
              <span className="font-medium">Name in URLs</span>
              <p className="flex min-h-10 items-center rounded-control border border-line bg-sunken px-3">{name}</p>
              <p className="text-muted text-small">Part of the URLs of what the organization owns. It cannot be changed.</p>
            </div>
            <Field name="website" type="url" label="Website" autoComplete="url" placeholder="https://" isOptional />
            <Field
              name="email"
              type="email"
              label="Contact e-mail"
              hint="Shown to apps with access to the organization."
              autoComplete="off"
              isOptional
            />
            <SubmitButton variant="secondary">Save</SubmitButton>
          </ActionForm>
        </SectionCard>
        <SectionCard
          title="New repositories"
          description="The creator of a repository can choose another visibility. Programs often use the default."
        >
          <ActionForm
            action={setDefaultVisibilityAction.bind(null, name)}
            values={{ defaultVisibility }}
            className="grid max-w-reading gap-5"
          >
            <Choices
              legend="Default visibility"
              name="defaultVisibility"
              options={[
                { value: "public", label: "Public", hint: "Everyone can see and clone them." },
                { value: "private", label: "Private", hint: "Only members can see them." },
              ]}
            />
            <SubmitButton variant="secondary">Save</SubmitButton>
          </ActionForm>
        </SectionCard>
      </div>
    </>
  );
}
