import Link from "next/link";
import { waysIn } from "#core/accounts/identity-providers/ways-in.ts";
import { AccountLine } from "../_components/account-line.tsx";
import { ActionForm } from "../_components/action-form.client.tsx";
import { CardFrame } from "../_components/card-frame.tsx";
import { CardHeader } from "../_components/card-header.tsx";
import { PasswordField } from "../_components/password-field.client.tsx";
import { SubmitButton } from "../_components/submit-button.client.tsx";
import type { SiteSession } from "../_server/session.ts";
import { reauthenticateAction } from "./actions.ts";
import { ConfirmElsewhere } from "./confirm-elsewhere.tsx";

/** Asks the person who is signed in for their password once more; who has none goes where they sign in. */
export async function ReauthenticateForm({ user, next }: Readonly<{ user: SiteSession["user"]; next: string }>) {
  const { hasPassword, passkeys } = await waysIn(user.id);
  const isElsewhere = !hasPassword && passkeys === 0;
  return (
    <CardFrame>
      <div className="pb-5">
        <CardHeader title="Confirm that it is you">
          {isElsewhere
            ? "What comes next is sensitive, so sign in again where you usually do."
            : "What comes next is sensitive, so we ask for your password again."}
        </CardHeader>
      </div>
      <AccountLine
        user={user}
        action={
          <Link prefetch={false} className="link" href={`/login?${new URLSearchParams({ switch: "1", next })}`}>
            Switch account
          </Link>
        }
      />
      <div className="px-6 pt-5 pb-6">
        {isElsewhere ? <ConfirmElsewhere userId={user.id} next={next} /> : <PasswordForm username={user.username} next={next} />}
      </div>
    </CardFrame>
  );
}

function PasswordForm({ username, next }: Readonly<{ username: string; next: string }>) {
  return (
    <ActionForm action={reauthenticateAction}>
      <input type="hidden" name="next" value={next} />
      {/* Lets password managers know whose password is asked for. */}
      <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
      <PasswordField
        name="password"
        label="Password"
        autoComplete="current-password"
        aside={
          <Link prefetch={false} className="link" href="/forgot-password">
            Forgot it?
          </Link>
        }
      />
      <SubmitButton isWide>Confirm</SubmitButton>
    </ActionForm>
  );
}
