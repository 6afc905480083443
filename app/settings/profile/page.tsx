import type { Metadata } from "next";
import { findUser } from "#core/accounts/users/find-user.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { Avatar, avatarSrc } from "../../_components/avatar.tsx";
import { Field } from "../../_components/fields.client.tsx";
import { ImageField } from "../../_components/image-field.client.tsx";
import { PageHeader, SectionCard } from "../../_components/page-layout.tsx";
import { requireSession } from "../../_server/session.ts";
import { updateProfileAction } from "../actions.ts";

export const metadata: Metadata = { title: "Profile" };

export default async function ProfilePage() {
  const { user } = await requireSession("/settings/profile");
  const website = (await findUser(user.id))?.website ?? "";
  return (
    <>
      <PageHeader title="Profile" description="What others see of you, here and in apps that you sign in to." />
      <SectionCard title="About you">
        <ActionForm
          action={updateProfileAction}
          values={{ fullName: user.fullName, website }}
          className="grid max-w-reading gap-5"
        >
          <ImageField
            name="avatar"
            label="Picture"
            current={<Avatar name={user.fullName} src={avatarSrc(user.username, user.avatarId)} size="xl" />}
            removeName={user.avatarId ? "removeAvatar" : undefined}
          />
          <Field name="fullName" label="Full name" autoComplete="name" />
          <div className="grid gap-1.5">
            <span className="font-medium">Username</span>
            <p className="flex min-h-10 items-center rounded-control border border-line bg-sunken px-3">{user.username}</p>
            <p className="text-muted text-small">Part of the URLs of what you own. It cannot be changed.</p>
          </div>
          <Field name="website" type="url" label="Website" isOptional autoComplete="url" placeholder="https://" />
          <SubmitButton>Save</SubmitButton>
        </ActionForm>
      </SectionCard>
    </>
  );
}
