import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { findPendingSecondStep } from "#core/accounts/second-step/find-pending-second-step.ts";
import { findSecondStepOffer } from "#core/accounts/second-step/find-second-step-offer.ts";
import { arePasskeysAvailable } from "#core/accounts/second-step/relying-party.ts";
import { CardFooter } from "../../_components/card-footer.tsx";
import { CardFrame } from "../../_components/card-frame.tsx";
import { CardHeader } from "../../_components/card-header.tsx";
import { secondStepToken } from "../../_server/enter.ts";
import { nextPath } from "../../_server/next-path.ts";
import type { PageQuery } from "../../_server/page-query.ts";
import { CodeForm, PasskeyForm, RecoveryCodeForm } from "./second-step-forms.tsx";

export const metadata: Metadata = { title: "Second step" };

/**
 * Asks for the second step of somebody whose first step was right. Whoever comes without one, or too late, is sent to begin again:
 * the page is the same for everybody who has not got there.
 * @param searchParams `next`: a path of ours to go on to
 */
export default async function SecondStepPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const next = nextPath((await searchParams).next);
  const pending = await findPendingSecondStep(await secondStepToken());
  if (!pending) redirect(`/login?${new URLSearchParams({ notice: "ran-out", next })}`);
  const { username, hasPasskeys, hasAuthenticator, hasRecoveryCodes } = await findSecondStepOffer(pending.userId);
  const isPasskeyOffered = hasPasskeys && arePasskeysAvailable();
  return (
    <CardFrame>
      <CardHeader title="Confirm that it is you">
        Your account <strong className="text-ink">{username}</strong> has a second step.
      </CardHeader>
      <div className="grid gap-5 px-6 pt-5 pb-6">
        {isPasskeyOffered && <PasskeyForm next={next} />}
        {hasAuthenticator && <CodeForm next={next} isPrimary={!isPasskeyOffered} />}
        {hasRecoveryCodes && <RecoveryCodeForm next={next} isOnlyWay={!hasAuthenticator} />}
      </div>
      <CardFooter>
        Lost all of them? The operator of this service can help.{" "}
        <Link prefetch={false} className="link text-ink" href={`/login?${new URLSearchParams({ switch: "1", next })}`}>
          Begin again
        </Link>
      </CardFooter>
    </CardFrame>
  );
}
