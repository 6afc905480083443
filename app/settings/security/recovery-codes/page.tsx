import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { findSecondStep } from "#core/accounts/second-step/find-second-step.ts";
import { ActionForm, SubmitButton } from "../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { FormMessage, PageHeader, SectionCard } from "../../../_components/page-layout.tsx";
import { noticeOf, type PageQuery } from "../../../_server/page-query.ts";
import { requireRecentSession } from "../../../_server/session.ts";
import { createRecoveryCodesAction } from "../actions.ts";
import { RECOVERY_CODES_PAGE, SECURITY_PAGE, securityNotices } from "../security-notices.ts";
import { CreatedRecoveryCodes } from "./created-recovery-codes.client.tsx";

export const metadata: Metadata = { title: "Recovery codes" };

export default async function RecoveryCodesPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await requireRecentSession(RECOVERY_CODES_PAGE);
  const { passkeys, authenticatorSince, recoveryCodesLeft } = await findSecondStep(session.userId);
  if (passkeys.length === 0 && !authenticatorSince) redirect(SECURITY_PAGE);
  const notice = noticeOf(securityNotices, (await searchParams).notice);
  return (
    <>
      <PageHeader
        trail={[{ href: SECURITY_PAGE, label: "Security" }]}
        title="Recovery codes"
        description="Each code replaces your second step once. Keep the codes in a safe place, not on the same device."
      />
      <ActionForm action={createRecoveryCodesAction}>
        <CreatedRecoveryCodes securityPage={SECURITY_PAGE}>
          {notice && <FormMessage tone="good">{notice} Next, create recovery codes in case you lose it.</FormMessage>}
          <SectionCard title={recoveryCodesLeft === 0 ? "You have none" : `${recoveryCodesLeft} of 10 left`}>
            <p className="mb-5 max-w-reading text-muted">
              {recoveryCodesLeft === 0
                ? "If you lose your second step without them, only the operator of this service can help you."
                : "New codes replace your current ones, which stop working immediately."}
            </p>
            <div className="flex flex-wrap gap-3">
              <SubmitButton>{recoveryCodesLeft === 0 ? "Create recovery codes" : "Create new recovery codes"}</SubmitButton>
              <ButtonLink href={SECURITY_PAGE}>{notice ? "Later" : "Cancel"}</ButtonLink>
            </div>
          </SectionCard>
        </CreatedRecoveryCodes>
      </ActionForm>
    </>
  );
}
