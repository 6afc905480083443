import { setWebhookEnabledAction } from "../../_server/webhooks/actions.ts";
import type { WebhookHome } from "../../_server/webhooks/webhook-paths.ts";
import { ActionForm } from "../action-form.client.tsx";
import type { ButtonLook } from "../button.tsx";
import { SubmitButton } from "../submit-button.client.tsx";

export type EnabledFormProps = Readonly<{ home: WebhookHome; webhookId: string; isEnabled: boolean }> &
  Pick<ButtonLook, "variant" | "size">;

/** Has a webhook tell again, or no longer; both can be taken back, so that nothing is asked. */
export function EnabledForm({ home, webhookId, isEnabled, variant = "secondary", size = "small" }: EnabledFormProps) {
  return (
    <ActionForm
      action={setWebhookEnabledAction.bind(null, home, webhookId, !isEnabled)}
      label={isEnabled ? "Disable" : "Enable"}
      className="grid justify-items-start gap-2"
    >
      <SubmitButton variant={variant} size={size}>
        {isEnabled ? "Disable" : "Enable"}
      </SubmitButton>
    </ActionForm>
  );
}
