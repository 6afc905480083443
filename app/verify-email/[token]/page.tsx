import type { Metadata } from "next";
import { findOneTimeToken } from "#core/accounts/one-time-token.ts";
import { findUser, findUserByUsername } from "#core/accounts/users/find-user.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { CardFrame, CardHeader, Gone } from "../../_components/card-frame.tsx";
import { Field, PasswordField } from "../../_components/fields.client.tsx";
import { currentSession } from "../../_server/session.ts";
import { verifyEmailAction } from "../../_server/sign-in-actions.ts";

export const metadata: Metadata = { title: "Confirm your e-mail address" };

/** The user must press a button, because mail scanners also open links. */
export default async function VerifyEmailPage({ params }: Readonly<{ params: Promise<{ token: string }> }>) {
  const { token } = await params;
  const link = await findOneTimeToken(token, "sign-up", "change-email");
  if (!link) {
    return (
      <Gone title="This link no longer works" action={<ButtonLink href="/login">Go to sign-in</ButtonLink>}>
        The link was already used or replaced by a newer one, or it has expired. If you have already confirmed your address, sign
        in.
      </Gone>
    );
  }
  return link.purpose === "sign-up" ? (
    <FinishSignUp token={token} username={link.data.username} email={link.data.email} />
  ) : (
    <FinishEmailChange token={token} userId={link.userId ?? ""} email={link.data.email} />
  );
}

async function FinishSignUp({ token, username, email }: Readonly<{ token: string; username: string; email: string }>) {
  const isTaken = (await findUserByUsername(username)) !== undefined;
  return (
    <CardFrame>
      <CardHeader title="One last step">
        {isTaken ? (
          <>
            The name <strong className="text-ink">{username}</strong> is no longer available. Choose another one for your account
            with {email}.
          </>
        ) : (
          <>
            Your account will be <strong className="text-ink">{username}</strong>, with the address{" "}
            <strong className="text-ink">{email}</strong>.
          </>
        )}
      </CardHeader>
      <div className="px-6 pt-5 pb-6">
        <ActionForm action={verifyEmailAction}>
          <input type="hidden" name="token" value={token} />
          {isTaken && <Field name="username" label="Username" autoComplete="username" autoCapitalize="none" spellCheck={false} />}
          <PasswordField name="password" label="The password that you chose" autoComplete="current-password" />
          <SubmitButton isWide>Finish</SubmitButton>
        </ActionForm>
      </div>
    </CardFrame>
  );
}

/** Somebody who gets the email by mistake must not be able to add their address to the user's account (S142). */
async function FinishEmailChange({ token, userId, email }: Readonly<{ token: string; userId: string; email: string }>) {
  const [user, session] = await Promise.all([findUser(userId), currentSession()]);
  const login = { next: `/verify-email/${encodeURIComponent(token)}`, login_hint: user?.username ?? "", switch: "1" };
  return (
    <CardFrame>
      <CardHeader title="Confirm your new address">
        <strong className="text-ink">{email}</strong> will become the address of the account{" "}
        <strong className="text-ink">{user?.username}</strong>.
        {session?.userId !== userId && " Sign in to that account to confirm this."}
      </CardHeader>
      <div className="px-6 pt-5 pb-6">
        {session?.userId === userId ? (
          <ActionForm action={verifyEmailAction}>
            <input type="hidden" name="token" value={token} />
            <SubmitButton isWide>Confirm</SubmitButton>
          </ActionForm>
        ) : (
          <ButtonLink variant="primary" isWide href={`/login?${new URLSearchParams(login)}`}>
            Sign in
          </ButtonLink>
        )}
      </div>
    </CardFrame>
  );
}
