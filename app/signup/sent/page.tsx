import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { readEmailAddress } from "#core/accounts/email-address.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { CardFooter, CardFrame, CardHeader } from "../../_components/card-frame.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { resendSignUpMailAction } from "../../_server/sign-in-actions.ts";

export const metadata: Metadata = { title: "Confirm your e-mail address" };

/** Says the same whether or not the address already has an account (S115). */
export default async function SignUpSentPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const email = readEmailAddress(textOf((await searchParams).email))?.address;
  if (!email) redirect("/signup");
  return (
    <CardFrame>
      {isMailSent() ? (
        <>
          <CardHeader title="Check your inbox">
            We sent a link to <strong className="text-ink">{email}</strong>. Open it within 24 hours to create your account.
          </CardHeader>
          <div className="grid gap-5 px-6 pt-4 pb-6">
            <p className="text-muted text-small">No e-mail? Check your spam folder and the address above.</p>
            <ActionForm action={resendSignUpMailAction}>
              <input type="hidden" name="email" value={email} />
              <SubmitButton variant="secondary" isWide>
                Send the link again
              </SubmitButton>
            </ActionForm>
          </div>
        </>
      ) : (
        <div className="pb-6">
          <CardHeader title="No e-mail was sent">
            This server does not send <span className="whitespace-nowrap">e-mail</span>. Ask its operator for the link for{" "}
            <strong className="text-ink">{email}</strong>, and open it within 24 hours to create your account.
          </CardHeader>
        </div>
      )}
      <CardFooter>
        Wrong address?{" "}
        <Link prefetch={false} className="link text-ink" href="/signup">
          Start again
        </Link>
      </CardFooter>
    </CardFrame>
  );
}
