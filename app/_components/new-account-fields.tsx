import { Field } from "./field.client.tsx";
import { PasswordField } from "./password-field.client.tsx";

/** What is asked of everybody who gets an account. */
export function NewAccountFields() {
  return (
    <>
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
      <NewPasswordField name="password" label="Password" />
    </>
  );
}

/** A password that is being chosen. */
export function NewPasswordField({ name, label }: Readonly<{ name: string; label: string }>) {
  return <PasswordField name={name} label={label} autoComplete="new-password" hint="8 characters or more; any kind will do." />;
}
