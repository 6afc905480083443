import Link from "next/link";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { NewPasswordField } from "../../_components/new-account-fields.tsx";
import { PasswordField } from "../../_components/password-field.client.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { changePasswordAction } from "./actions.ts";

export type PasswordSectionProps = Readonly<{ username: string; hasPassword: boolean }>;

export function PasswordSection({ username, hasPassword }: PasswordSectionProps) {
  if (!hasPassword) {
    return (
      <SectionCard title="Password">
        <p className="text-muted">
          You have none: you sign in elsewhere.{" "}
          <Link prefetch={false} className="link" href="/settings/linked-accounts">
            Set one
          </Link>
          .
        </p>
      </SectionCard>
    );
  }
  return (
    <SectionCard title="Password" description="A new password ends all your other sessions.">
      <ActionForm action={changePasswordAction} className="grid max-w-reading gap-5">
        {/* Lets password managers know whose password changes. */}
        <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
        <PasswordField name="currentPassword" label="Present password" autoComplete="current-password" />
        <NewPasswordField name="newPassword" label="New password" />
        <div>
          <SubmitButton variant="secondary">Change password</SubmitButton>
        </div>
      </ActionForm>
    </SectionCard>
  );
}
