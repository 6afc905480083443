import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { AccountLine } from "../_components/account-line.tsx";
import { SubmitButton } from "../_components/action-form.client.tsx";
import { ButtonLink } from "../_components/button.tsx";
import { CardFrame, CardHeader } from "../_components/card-frame.tsx";
import { currentSession } from "../_server/session.ts";
import { signOut } from "../_server/sign-out.ts";

export const metadata: Metadata = { title: "Sign out" };

/** A link on another site must not sign users out (S108). */
export default async function SignOutPage() {
  const session = await currentSession();
  if (!session) redirect("/");
  return (
    <CardFrame>
      <div className="pb-5">
        <CardHeader title="Sign out?">
          Apps have their own sessions. You may stay signed in to those that do not sign you out when you sign out here.
        </CardHeader>
      </div>
      <AccountLine user={session.user} />
      <form action={signOut} className="grid grid-cols-2 gap-3 px-6 py-5">
        <ButtonLink href="/">Cancel</ButtonLink>
        <SubmitButton isWide>Sign out</SubmitButton>
      </form>
    </CardFrame>
  );
}
