import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { findPendingSecondStep, findSecondStepOffer } from "#core/accounts/second-step/pending-second-step.ts";
import { arePasskeysAvailable } from "#core/accounts/second-step/verify-passkey.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { CardFooter, CardFrame, CardHeader } from "../../_components/card-frame.tsx";
import { FormDetails } from "../../_components/details-form.client.tsx";
import { Field } from "../../_components/fields.client.tsx";
import { PasskeyButton } from "../../_components/passkey-button.client.tsx";
import { secondStepToken } from "../../_server/continue-sign-in.ts";
import { nextPath } from "../../_server/next-path.ts";
import type { PageQuery } from "../../_server/page-query.ts";
import {
  askForPasskeyAsSecondStepAction,
  finishWithCodeAction,
  finishWithPasskeyAction,
  finishWithRecoveryCodeAction,
} from "../../_server/sign-in-actions.ts";

export const metadata: Metadata = { title: "Second step" };

/** Without a valid pending sign-in, redirects to the sign-in page. @param searchParams `next`: a path of ours to continue to */
export default async function SecondStepPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const next = nextPath((await searchParams).next);
  const pending = await findPendingSecondStep(await secondStepToken());
  if (!pending) redirect(`/login?${new URLSearchParams({ notice: "ran-out", next })}`);
  const { username, hasPasskeys, hasAuthenticator, hasRecoveryCodes } = await findSecondStepOffer(pending.userId);
  const isPasskeyOffered = hasPasskeys && arePasskeysAvailable();
  return (
    <CardFrame>
      <CardHeader title="Confirm your identity">
        Your account <strong className="text-ink">{username}</strong> requires a second step.
      </CardHeader>
      <div className="grid gap-5 px-6 pt-5 pb-6">
        {isPasskeyOffered && <PasskeyForm next={next} />}
        {hasAuthenticator && <CodeForm next={next} isPrimary={!isPasskeyOffered} />}
        {hasRecoveryCodes && <RecoveryCodeForm next={next} isOnlyWay={!hasAuthenticator} />}
      </div>
      <CardFooter>
        Lost all of these? Contact the operator of this service.{" "}
        <Link prefetch={false} className="link text-ink" href={`/login?${new URLSearchParams({ switch: "1", next })}`}>
          Start again
        </Link>
      </CardFooter>
    </CardFrame>
  );
}

function PasskeyForm({ next }: Readonly<{ next: string }>) {
  return (
    <ActionForm action={finishWithPasskeyAction} label="Passkey">
      <input type="hidden" name="next" value={next} />
      <PasskeyButton ask={askForPasskeyAsSecondStepAction} variant="primary" isWide>
        Use a passkey
      </PasskeyButton>
      <p className="hidden text-muted text-small noscript:block">Passkeys require JavaScript. Turn it on to use them.</p>
    </ActionForm>
  );
}

function CodeForm({ next, isPrimary }: Readonly<{ next: string; isPrimary: boolean }>) {
  return (
    <ActionForm action={finishWithCodeAction} label="Authenticator app">
      <input type="hidden" name="next" value={next} />
      <Field
        name="code"
        label="Code from your authenticator app"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={12}
        autoFocus={isPrimary}
        isMono
      />
      <SubmitButton isWide variant={isPrimary ? "primary" : "secondary"}>
        Confirm
      </SubmitButton>
    </ActionForm>
  );
}

/** Collapsed if the user has an authenticator app, because each recovery code works only once. */
function RecoveryCodeForm({ next, isOnlyWay }: Readonly<{ next: string; isOnlyWay: boolean }>) {
  const form = { action: finishWithRecoveryCodeAction, label: "Recovery code" };
  const content = (
    <>
      <input type="hidden" name="next" value={next} />
      <Field name="recoveryCode" label="Recovery code" hint="One of your ten codes. Each works once." maxLength={40} isMono />
      <SubmitButton isWide variant="secondary">
        Use this code
      </SubmitButton>
    </>
  );
  if (isOnlyWay) return <ActionForm {...form}>{content}</ActionForm>;
  return (
    <FormDetails {...form} trigger="Use a recovery code" look={{ variant: "quiet", size: "small" }}>
      {content}
    </FormDetails>
  );
}
