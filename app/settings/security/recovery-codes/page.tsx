import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { findSecondStep } from "#core/accounts/second-step/find-second-step.ts";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { FormMessage } from "../../../_components/form-message.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { SubmitButton } from "../../../_components/submit-button.client.tsx";
import { type PageQuery, textOf } from "../../../_server/page-query.ts";
import { requireRecentSession } from "../../../_server/session.ts";
import { makeRecoveryCodesAction } from "../actions.ts";
import { securityNotices } from "../security-notices.ts";
import { RECOVERY_CODES_PAGE, SECURITY_PAGE } from "../security-pages.ts";
import { MadeRecoveryCodes } from "./made-recovery-codes.client.tsx";

export const metadata: Metadata = { title: "Recovery codes" };

export default async function RecoveryCodesPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await requireRecentSession(RECOVERY_CODES_PAGE);
  const { passkeys, authenticatorSince, recoveryCodesLeft } = await findSecondStep(session.userId);
  if (passkeys.length === 0 && !authenticatorSince) redirect(SECURITY_PAGE);
  const notice = securityNotices.get(textOf((await searchParams).notice));
  return (
    <>
      <PageHeader
        trail={[{ href: SECURITY_PAGE, label: "Security" }]}
        title="Recovery codes"
        description="Each of them signs you in once in place of your second step, after your password. Keep them where you keep what matters, and not on the same device."
      />
      <ActionForm action={makeRecoveryCodesAction}>
        <MadeRecoveryCodes securityPage={SECURITY_PAGE}>
          {notice && <FormMessage tone="good">{notice} One thing is left: recovery codes, for the day you lose it.</FormMessage>}
          <SectionCard title={recoveryCodesLeft === 0 ? "You have none" : `${recoveryCodesLeft} of 10 left`}>
            <p className="mb-5 max-w-reading text-muted">
              {recoveryCodesLeft === 0
                ? "Without them, losing your second step means asking the operator of this service to let you in."
                : "New ones take the place of those that you have: the old ones stop working at once."}
            </p>
            <div className="flex flex-wrap gap-3">
              <SubmitButton>{recoveryCodesLeft === 0 ? "Make recovery codes" : "Make new recovery codes"}</SubmitButton>
              <ButtonLink href={SECURITY_PAGE}>{notice ? "Later" : "Cancel"}</ButtonLink>
            </div>
          </SectionCard>
        </MadeRecoveryCodes>
      </ActionForm>
    </>
  );
}
