import Link from "next/link";
import { AccountLine } from "../_components/account-line.tsx";
import { ActionForm } from "../_components/action-form.client.tsx";
import { CardFrame } from "../_components/card-frame.tsx";
import { CardHeader } from "../_components/card-header.tsx";
import { PasswordField } from "../_components/password-field.client.tsx";
import { SubmitButton } from "../_components/submit-button.client.tsx";
import type { SiteSession } from "../_server/session.ts";
import { reauthenticateAction } from "./actions.ts";

/** Asks the person who is signed in for their password once more. */
export function ReauthenticateForm({ user, next }: Readonly<{ user: SiteSession["user"]; next: string }>) {
  return (
    <CardFrame>
      <div className="pb-5">
        <CardHeader title="Confirm that it is you">What comes next is sensitive, so we ask for your password again.</CardHeader>
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
        <ActionForm action={reauthenticateAction}>
          <input type="hidden" name="next" value={next} />
          {/* Lets password managers know whose password is asked for. */}
          <input type="text" name="username" autoComplete="username" value={user.username} readOnly hidden />
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
      </div>
    </CardFrame>
  );
}
