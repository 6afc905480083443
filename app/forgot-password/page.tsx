import type { Metadata } from "next";
import Link from "next/link";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { ActionForm, SubmitButton } from "../_components/action-form.client.tsx";
import { CardFooter, CardFrame, CardHeader } from "../_components/card-frame.tsx";
import { Field } from "../_components/fields.client.tsx";
import { forgotPasswordAction } from "../_server/sign-in-actions.ts";

export const metadata: Metadata = { title: "Forgot password" };

export default function ForgotPasswordPage() {
  return (
    <CardFrame>
      <CardHeader title="Forgot your password?">
        {isMailSent()
          ? "We will send you a link to choose a new password."
          : "This server does not send e-mail. Its operator can give you a link to choose a new password."}
      </CardHeader>
      <div className="px-6 pt-5 pb-6">
        <ActionForm action={forgotPasswordAction}>
          <Field name="email" type="email" label="E-mail of your account" autoComplete="email" />
          <SubmitButton isWide>Request the link</SubmitButton>
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
