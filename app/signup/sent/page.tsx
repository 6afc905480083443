import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { readEmailAddress } from "#core/accounts/email-address.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { CardFooter } from "../../_components/card-footer.tsx";
import { CardFrame } from "../../_components/card-frame.tsx";
import { CardHeader } from "../../_components/card-header.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { resendSignUpMailAction } from "../actions.ts";

export const metadata: Metadata = { title: "Look into your mailbox" };

/** After sign-up. It says the same whether or not the address has an account already (S115). */
export default async function SignUpSentPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const email = readEmailAddress(textOf((await searchParams).email))?.address;
  if (!email) redirect("/signup");
  return (
    <CardFrame>
      <CardHeader title="Look into your mailbox">
        We have written to <strong className="text-ink">{email}</strong>. Open the link in that mail to finish; it works for 24
        hours.
      </CardHeader>
      <div className="grid gap-5 px-6 pt-4 pb-6">
        <p className="text-muted text-small">
          Nothing there? Look among the unwanted mail, and at the spelling of the address above.
        </p>
        <ActionForm action={resendSignUpMailAction}>
          <input type="hidden" name="email" value={email} />
          <SubmitButton variant="secondary" isWide>
            Send the link again
          </SubmitButton>
        </ActionForm>
      </div>
      <CardFooter>
        Another address?{" "}
        <Link prefetch={false} className="link text-ink" href="/signup">
          Start again
        </Link>
      </CardFooter>
    </CardFrame>
  );
}
