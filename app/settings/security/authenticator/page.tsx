import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { encode } from "uqr";
import { personActor } from "#core/access/actor.ts";
import { findTotpEnrolment } from "#core/accounts/second-step/totp-enrolment.ts";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { CopyField } from "../../../_components/copyable.tsx";
import { Field } from "../../../_components/fields.client.tsx";
import { FormButtons } from "../../../_components/form-buttons.tsx";
import { PageColumn, SectionCard } from "../../../_components/page-layout.tsx";
import { requireRecentSession } from "../../../_server/session.ts";
import { confirmAuthenticatorAction } from "../actions.ts";
import { AUTHENTICATOR_PAGE, SECURITY_PAGE } from "../security-notices.ts";

export const metadata: Metadata = { title: "Authenticator app" };

export default async function AuthenticatorPage() {
  const session = await requireRecentSession(AUTHENTICATOR_PAGE);
  const enrolment = await findTotpEnrolment(personActor(session));
  if (!enrolment) redirect(SECURITY_PAGE);
  const { secret, uri } = enrolment;
  return (
    <PageColumn trail={[{ href: SECURITY_PAGE, label: "Security" }]} title="Authenticator app">
      <SectionCard title="1. QR code to scan with the app">
        <div className="grid gap-4">
          <QrCode value={uri} label="QR code for your authenticator app" />
          <p className="text-muted text-small">Cannot scan it? Enter this key into the app manually, as a time-based key.</p>
          <CopyField label="Key" value={grouped(secret)} />
        </div>
      </SectionCard>
      <SectionCard title="2. Code that the app shows">
        <ActionForm action={confirmAuthenticatorAction} className="grid max-w-reading gap-5">
          <Field name="code" label="Code" inputMode="numeric" autoComplete="one-time-code" maxLength={12} isMono />
          <FormButtons cancelHref={SECURITY_PAGE}>Turn on</FormButtons>
        </ActionForm>
      </SectionCard>
    </PageColumn>
  );
}

/** Groups are easier to copy. Authenticator apps ignore the spaces. */
function grouped(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, "$1 ");
}

type QrCodeProps = Readonly<{
  value: string;
  label: string;
}>;

// ISO/IEC 18004 asks for a quiet zone of four modules.
const QUIET_MODULES = 4;

/** Scanners need black on white in both themes. Only this service may learn the content, so it draws the code itself. */
function QrCode({ value, label }: QrCodeProps) {
  const { data, size } = encode(value, { ecc: "M", border: QUIET_MODULES });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-56 max-w-full rounded-control border border-line bg-white"
    >
      <path d={dark.join("")} fill="#000" />
    </svg>
  );
}
