import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { readEmailAddress } from "#core/accounts/email-address.ts";
import { CardFooter } from "../../_components/card-footer.tsx";
import { CardFrame } from "../../_components/card-frame.tsx";
import { CardHeader } from "../../_components/card-header.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";

export const metadata: Metadata = { title: "Look into your mailbox" };

/** The same for every address, so that nobody learns which ones have an account (S115). */
export default async function ForgotPasswordSentPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const email = readEmailAddress(textOf((await searchParams).email))?.address;
  if (!email) redirect("/forgot-password");
  return (
    <CardFrame>
      <div className="pb-6">
        <CardHeader title="Look into your mailbox">
          If <strong className="text-ink">{email}</strong> has an account, a link is on its way there. It works once, for one
          hour.
        </CardHeader>
      </div>
      <CardFooter>
        Nothing there?{" "}
        <Link prefetch={false} className="link text-ink" href="/forgot-password">
          Ask again
        </Link>
      </CardFooter>
    </CardFrame>
  );
}
