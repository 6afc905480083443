import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { readEmailAddress } from "#core/accounts/email-address.ts";
import { isMailSent } from "#core/mail/queue-mail.ts";
import { CardFooter, CardFrame, CardHeader } from "../../_components/card-frame.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";

export const metadata: Metadata = { title: "Reset your password" };

/** The page is the same for every address, so that nobody learns which addresses have an account (S115). */
export default async function ForgotPasswordSentPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const email = readEmailAddress(textOf((await searchParams).email))?.address;
  if (!email) redirect("/forgot-password");
  return (
    <CardFrame>
      <div className="pb-6">
        {isMailSent() ? (
          <CardHeader title="Check your inbox">
            If <strong className="text-ink">{email}</strong> has an account, we sent a link there. It works once, within one hour.
          </CardHeader>
        ) : (
          <CardHeader title="No e-mail was sent">
            This server does not send <span className="whitespace-nowrap">e-mail</span>. If{" "}
            <strong className="text-ink">{email}</strong> has an account, ask the server&rsquo;s operator for the link. It works
            once, within one hour.
          </CardHeader>
        )}
      </div>
      <CardFooter>
        Wrong address?{" "}
        <Link prefetch={false} className="link text-ink" href="/forgot-password">
          Try again
        </Link>
      </CardFooter>
    </CardFrame>
  );
}
