import type { Metadata } from "next";
import { findOneTimeToken } from "#core/accounts/one-time-token.ts";
import { findUser } from "#core/accounts/users/find-user.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { CardFrame, CardHeader, Gone } from "../../_components/card-frame.tsx";
import { NewPasswordField } from "../../_components/new-account-fields.tsx";
import { resetPasswordAction } from "../../_server/sign-in-actions.ts";

export const metadata: Metadata = { title: "Choose a new password" };

export default async function ResetPasswordPage({ params }: Readonly<{ params: Promise<{ token: string }> }>) {
  const { token } = await params;
  const link = await findOneTimeToken(token, "reset-password");
  const user = link?.userId ? await findUser(link.userId) : undefined;
  if (!user) {
    return (
      <Gone title="This link no longer works" action={<ButtonLink href="/forgot-password">Request a new link</ButtonLink>}>
        It was used, was replaced by a newer one, or has expired.
      </Gone>
    );
  }
  return (
    <CardFrame>
      <CardHeader title="Choose a new password">
        For the account <strong className="text-ink">{user.username}</strong>. You will be signed out everywhere.
      </CardHeader>
      <div className="px-6 pt-5 pb-6">
        <ActionForm action={resetPasswordAction}>
          <input type="hidden" name="token" value={token} />
          {/* Tells password managers to which account the new password belongs. */}
          <input type="text" name="username" autoComplete="username" value={user.username} readOnly hidden />
          <NewPasswordField name="password" label="New password" />
          <SubmitButton isWide>Change password</SubmitButton>
        </ActionForm>
      </div>
    </CardFrame>
  );
}
