import { ActionForm } from "../../_components/action-form.client.tsx";
import { Field } from "../../_components/field.client.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import type { SiteSession } from "../../_server/session.ts";
import { changeEmailAction } from "./actions.ts";

export type EmailSectionProps = Readonly<{ user: SiteSession["user"]; isRecent: boolean }>;

/** Whoever has the address can take the account over, so changing it needs recent authentication (S113). */
export function EmailSection({ user, isRecent }: EmailSectionProps) {
  return (
    <SectionCard title="E-mail" description="For signing in, for a forgotten password, and for apps that you let see it.">
      <p className="mb-5 break-words">
        Your address is <strong>{user.email}</strong>.
      </p>
      {isRecent ? (
        <ActionForm action={changeEmailAction} className="grid max-w-reading gap-5">
          <Field
            name="email"
            type="email"
            label="New e-mail"
            autoComplete="email"
            hint="We send a link there; the address changes when you open it."
          />
          <div>
            <SubmitButton variant="secondary">Change e-mail</SubmitButton>
          </div>
        </ActionForm>
      ) : (
        <ProveIdentity returnTo="/settings/account">To change it, confirm that it is you.</ProveIdentity>
      )}
    </SectionCard>
  );
}
