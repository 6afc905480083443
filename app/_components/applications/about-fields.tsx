import { Field } from "../field.client.tsx";
import { ImageField } from "../image-field.client.tsx";
import { AppLogo } from "./app-logo.tsx";

export type AboutFieldsProps = Readonly<{
  /** The app as it is; absent while it is being made. */
  app?: Readonly<{ name: string; logoId: string | null }>;
}>;

/** What people see of an app when it asks for their consent. */
export function AboutFields({ app }: AboutFieldsProps) {
  return (
    <>
      <ImageField
        name="logo"
        label="Logo"
        current={<AppLogo app={app ?? { name: "A", logoId: null }} size="xl" />}
        removeName={app?.logoId ? "removeLogo" : undefined}
      />
      <Field name="name" label="Name" hint="At most 60 characters." autoComplete="off" />
      <Field name="homepageUrl" type="url" label="Homepage" isOptional autoComplete="off" placeholder="https://app.example.com" />
      <Field name="description" label="Description" hint="One sentence: what it is for." isOptional autoComplete="off" />
    </>
  );
}
