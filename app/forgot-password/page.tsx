import type { Metadata } from "next";
import Link from "next/link";
import { ActionForm } from "../_components/action-form.client.tsx";
import { CardFooter } from "../_components/card-footer.tsx";
import { CardFrame } from "../_components/card-frame.tsx";
import { CardHeader } from "../_components/card-header.tsx";
import { Field } from "../_components/field.client.tsx";
import { SubmitButton } from "../_components/submit-button.client.tsx";
import { forgotPasswordAction } from "./actions.ts";

export const metadata: Metadata = { title: "Forgot password" };

export default function ForgotPasswordPage() {
  return (
    <CardFrame>
      <CardHeader title="Forgot your password?">We send you a link with which you choose a new one.</CardHeader>
      <div className="px-6 pt-5 pb-6">
        <ActionForm action={forgotPasswordAction}>
          <Field name="email" type="email" label="E-mail of your account" autoComplete="email" />
          <SubmitButton isWide>Send the link</SubmitButton>
        </ActionForm>
      </div>
      <CardFooter>
        Remembered it?{" "}
        <Link prefetch={false} className="link text-ink" href="/login">
          Sign in
        </Link>
      </CardFooter>
    </CardFrame>
  );
}
