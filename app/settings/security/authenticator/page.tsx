import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { personActor } from "#core/access/actor.ts";
import { findTotpEnrolment } from "#core/accounts/second-step/start-totp-enrolment.ts";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../_components/button.tsx";
import { CopyField } from "../../../_components/copy-field.tsx";
import { Field } from "../../../_components/field.client.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { QrCode } from "../../../_components/qr-code.tsx";
import { SectionCard } from "../../../_components/section-card.tsx";
import { SubmitButton } from "../../../_components/submit-button.client.tsx";
import { requireRecentSession } from "../../../_server/session.ts";
import { confirmAuthenticatorAction } from "../actions.ts";
import { AUTHENTICATOR_PAGE, SECURITY_PAGE } from "../security-pages.ts";

export const metadata: Metadata = { title: "Authenticator app" };

/** Shows the secret of a new authenticator app and asks for its first code. Nothing changes before that. */
export default async function AuthenticatorPage() {
  const session = await requireRecentSession(AUTHENTICATOR_PAGE);
  const enrolment = await findTotpEnrolment(personActor(session));
  if (!enrolment) redirect(SECURITY_PAGE);
  const { secret, uri } = enrolment;
  return (
    <>
      <PageHeader trail={[{ href: SECURITY_PAGE, label: "Security" }]} title="Set up an authenticator app" />
      <div className="grid grid-cols-1 gap-5">
        <SectionCard title="1. Scan this with the app">
          <div className="grid gap-4">
            <QrCode value={uri} label="QR code for your authenticator app" />
            <p className="text-muted text-small">Cannot scan it? Enter this key into the app yourself, as a time-based one.</p>
            <CopyField label="Key" value={grouped(secret)} />
          </div>
        </SectionCard>
        <SectionCard title="2. Enter the code that it shows">
          <ActionForm action={confirmAuthenticatorAction} className="grid max-w-reading gap-5">
            <Field name="code" label="Code" inputMode="numeric" autoComplete="one-time-code" maxLength={12} isMono />
            <div className="flex flex-wrap gap-3">
              <SubmitButton>Turn on</SubmitButton>
              <ButtonLink href={SECURITY_PAGE}>Cancel</ButtonLink>
            </div>
          </ActionForm>
        </SectionCard>
      </div>
    </>
  );
}

/** In fours, as people copy it. Apps leave the spaces out. */
function grouped(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, "$1 ");
}
