import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { invitationAt, readSignUpPolicy } from "#core/accounts/users/sign-up-policy.ts";
import { env } from "#core/env.ts";
import { ActionForm, SubmitButton } from "../_components/action-form.client.tsx";
import { CardFooter, CardFrame, CardHeader } from "../_components/card-frame.tsx";
import { NewAccountFields } from "../_components/new-account-fields.tsx";
import { ProviderSignInLinks } from "../_components/provider-sign-in-links.tsx";
import { nextPath } from "../_server/next-path.ts";
import type { PageQuery } from "../_server/page-query.ts";
import { currentSession } from "../_server/session.ts";
import { signUpAction } from "../_server/sign-in-actions.ts";

export const metadata: Metadata = { title: "Create an account" };

export default async function SignUpPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const next = nextPath((await searchParams).next);
  if (await currentSession()) redirect(next);
  const [{ isOpen }, invitation] = await Promise.all([readSignUpPolicy(), invitationAt(next)]);
  return (
    <CardFrame>
      <CardHeader title={`Create a ${env().BRAND_NAME} account`}>
        {!isOpen &&
          !invitation &&
          "Only invited people can create an account with a password here. If you have an invitation, open its link."}
      </CardHeader>
      <div className="grid gap-5 px-6 pt-5 pb-6">
        {(isOpen || invitation) && <SignUpForm next={next} email={invitation?.email} />}
        <ProviderSignInLinks next={next} />
      </div>
      <CardFooter>
        Already have an account?{" "}
        <Link prefetch={false} className="link text-ink" href={`/login?${new URLSearchParams({ next })}`}>
          Sign in
        </Link>
      </CardFooter>
    </CardFrame>
  );
}

function SignUpForm({ next, email = "" }: Readonly<{ next: string; email: string | undefined }>) {
  return (
    <ActionForm action={signUpAction} values={{ email }}>
      <input type="hidden" name="next" value={next} />
      <NewAccountFields />
      <SubmitButton isWide>Create account</SubmitButton>
    </ActionForm>
  );
}
