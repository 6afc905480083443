import type { AskingOrganization } from "#core/accounts/second-step/organizations-asking.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { removeAuthenticatorAction, startAuthenticatorAction } from "./actions.ts";
import { ClosingWarning } from "./closing-warning.tsx";

export type AuthenticatorSectionProps = Readonly<{
  since: Date | null;
  isRecent: boolean;
  closing: readonly AskingOrganization[];
}>;

export function AuthenticatorSection({ since, isRecent, closing }: AuthenticatorSectionProps) {
  return (
    <SectionCard
      title="Authenticator app"
      description="An app on your telephone shows a code of six digits, new every half minute, which you enter after your password."
      action={since && <Chip tone="good">On</Chip>}
    >
      <div className="grid gap-4">
        <p className="text-muted">
          {since ? (
            <>
              Set up <RelativeTime at={since} />.
            </>
          ) : (
            "You have none yet."
          )}
        </p>
        {isRecent && (
          <ActionForm action={startAuthenticatorAction}>
            <div>
              <SubmitButton variant="secondary">{since ? "Move to another app" : "Set up an authenticator app"}</SubmitButton>
            </div>
          </ActionForm>
        )}
        {isRecent && since && (
          <ConfirmDestructive
            action={removeAuthenticatorAction}
            trigger="Remove the app"
            title="Remove your authenticator app?"
            confirm="Remove the authenticator app"
            size="small"
          >
            Its codes no longer sign you in.
            <ClosingWarning closing={closing} />
          </ConfirmDestructive>
        )}
      </div>
    </SectionCard>
  );
}
