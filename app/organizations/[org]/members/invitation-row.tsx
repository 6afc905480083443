import { Mail } from "lucide-react";
import type { OpenInvitation } from "#core/accounts/organizations/invitations/list-invitations.ts";
import { ActionForm } from "../../../_components/action-form.client.tsx";
import { Chip } from "../../../_components/chip.tsx";
import { ConfirmDestructive } from "../../../_components/confirm-destructive.client.tsx";
import { ListRow } from "../../../_components/list.tsx";
import { RelativeTime } from "../../../_components/relative-time.tsx";
import { SubmitButton } from "../../../_components/submit-button.client.tsx";
import { resendInvitationAction, revokeInvitationAction } from "./actions.ts";

export type InvitationRowProps = Readonly<{ invitation: OpenInvitation; organizationName: string }>;

export function InvitationRow({ invitation, organizationName }: InvitationRowProps) {
  const { id, email, role, createdAt, expiresAt, isExpired } = invitation;
  return (
    <ListRow
      leading={<Mail className="size-5 text-muted" aria-hidden="true" />}
      title={
        <>
          <span className="min-w-0 break-all">{email}</span>
          {isExpired && <Chip tone="warn">Expired</Chip>}
        </>
      }
      meta={
        <>
          as <strong className="text-ink">{role}</strong> · sent <RelativeTime at={createdAt} /> · {isExpired ? "ended" : "ends"}{" "}
          <RelativeTime at={expiresAt} />
        </>
      }
    >
      <div className="mt-2 flex flex-wrap items-start gap-2 sm:ml-8">
        <ActionForm action={resendInvitationAction.bind(null, organizationName)} className="grid gap-2">
          <input type="hidden" name="invitationId" value={id} />
          <SubmitButton variant="secondary" size="small">
            Send again<span className="sr-only"> to {email}</span>
          </SubmitButton>
        </ActionForm>
        <ConfirmDestructive
          action={revokeInvitationAction.bind(null, organizationName)}
          trigger="Take back"
          title={`Take back the invitation of ${email}?`}
          confirm="Take back the invitation"
          size="small"
        >
          <input type="hidden" name="invitationId" value={id} />
          The link in the mail stops working.
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}
