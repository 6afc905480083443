import { ActionForm } from "../_components/action-form.client.tsx";
import { Field } from "../_components/field.client.tsx";
import { PasswordField } from "../_components/password-field.client.tsx";
import { SubmitButton } from "../_components/submit-button.client.tsx";
import { signUpAction } from "./actions.ts";
import { MailSent } from "./mail-sent.client.tsx";

export function SignUpForm({ next }: Readonly<{ next: string }>) {
  return (
    <ActionForm action={signUpAction} whenDone={<MailSent />}>
      <input type="hidden" name="next" value={next} />
      <Field
        name="username"
        label="Username"
        hint="Public, and part of the addresses of what you own. Letters, digits and single . _ or -"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
      />
      <Field name="fullName" label="Full name" isOptional autoComplete="name" />
      <Field name="email" type="email" label="E-mail" autoComplete="email" />
      <PasswordField
        name="password"
        label="Password"
        autoComplete="new-password"
        hint="8 characters or more; any kind will do."
      />
      <SubmitButton isWide>Create account</SubmitButton>
    </ActionForm>
  );
}
