import Link from "next/link";
import { ActionForm } from "../_components/action-form.client.tsx";
import { Field } from "../_components/field.client.tsx";
import { PasswordField } from "../_components/password-field.client.tsx";
import { SubmitButton } from "../_components/submit-button.client.tsx";
import { signInAction } from "./actions.ts";

/** The first step of signing in. Another way in stands beside it as a form of its own; a second step follows it on a page of its own. */
export function SignInForm({ next, login }: Readonly<{ next: string; login: string }>) {
  return (
    <ActionForm action={signInAction} values={{ login }}>
      <input type="hidden" name="next" value={next} />
      <Field name="login" label="Username or e-mail" autoComplete="username" autoCapitalize="none" spellCheck={false} />
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
      <SubmitButton isWide>Sign in</SubmitButton>
    </ActionForm>
  );
}
