import { ActionForm } from "../_components/action-form.client.tsx";
import { PasskeyButton } from "../_components/passkey-button.client.tsx";
import { askForPasskeyToSignInAction, signInWithPasskeyAction } from "./actions.ts";

/** Signs in with a passkey alone: it says who it is, and is both steps in one. */
export function PasskeySignIn({ next }: Readonly<{ next: string }>) {
  return (
    <ActionForm action={signInWithPasskeyAction} label="Passkey">
      <input type="hidden" name="next" value={next} />
      <PasskeyButton ask={askForPasskeyToSignInAction} variant="secondary" isWide>
        Sign in with a passkey
      </PasskeyButton>
    </ActionForm>
  );
}
