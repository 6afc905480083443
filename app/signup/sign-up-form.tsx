import { ActionForm } from "../_components/action-form.client.tsx";
import { NewAccountFields } from "../_components/new-account-fields.tsx";
import { SubmitButton } from "../_components/submit-button.client.tsx";
import { signUpAction } from "./actions.ts";

export function SignUpForm({ next }: Readonly<{ next: string }>) {
  return (
    <ActionForm action={signUpAction}>
      <input type="hidden" name="next" value={next} />
      <NewAccountFields />
      <SubmitButton isWide>Create account</SubmitButton>
    </ActionForm>
  );
}
