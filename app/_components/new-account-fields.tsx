import { handleRule } from "./field-frame.tsx";
import { Field, PasswordField } from "./fields.client.tsx";

export function NewAccountFields() {
  return (
    <>
      <NameFields />
      <Field name="email" type="email" label="E-mail" autoComplete="email" />
      <NewPasswordField name="password" label="Password" />
    </>
  );
}

export function NameFields() {
  return (
    <>
      <Field
        name="username"
        label="Username"
        hint={<>Public, and part of the URLs of everything you own. {handleRule}</>}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
      />
      <Field name="fullName" label="Full name" isOptional autoComplete="name" />
    </>
  );
}

export function NewPasswordField({ name, label }: Readonly<{ name: string; label: string }>) {
  return <PasswordField name={name} label={label} autoComplete="new-password" hint="At least 8 characters." />;
}
