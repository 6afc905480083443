"use client";

import { ActionForm, useFormState } from "../action-form.client.tsx";
import { buttonClass } from "../button.tsx";
import { Field } from "../field.client.tsx";
import type { FormAction } from "../form-state.ts";
import { SubmitButton } from "../submit-button.client.tsx";
import { TextArea } from "../text-area.client.tsx";

export type KeysFormProps = Readonly<{
  action: FormAction;
  isSet: boolean;
  /** The app has a secret, which ends with this. */
  endsSecret: boolean;
}>;

/** Takes an app's public keys, pasted or by their address. Closed until it is wanted, and without JavaScript too. */
export function KeysForm({ action, isSet, endsSecret }: KeysFormProps) {
  return (
    <ActionForm action={action} label="Keys" className="grid max-w-reading gap-4">
      <Keys isSet={isSet} endsSecret={endsSecret} />
    </ActionForm>
  );
}

function Keys({ isSet, endsSecret }: Omit<KeysFormProps, "action">) {
  const { errors, message } = useFormState();
  const isRefused = Object.keys(errors).length > 0 || message?.tone === "bad";
  return (
    <details open={isRefused} className="group">
      <summary className={buttonClass({})}>
        <span className="group-open:hidden">{isSet ? "Replace keys" : "Use keys"}</span>
        <span className="hidden group-open:inline">{isSet ? "Keep these" : "Not now"}</span>
      </summary>
      <div className="mt-3 grid gap-5 rounded-control border border-line p-4">
        <p className="text-small">
          Give the keys here or their address, one of the two. {isSet && "They take the place of all present ones. "}
          {endsSecret && "An app proves itself in one way: its secret stops working at once."}
        </p>
        <TextArea
          name="jwks"
          label="Public keys"
          hint="A JSON Web Key Set, or PEM. RSA (2,048 bits or more), P-256 or Ed25519; never the private half."
          isOptional
          isMono
          rows={6}
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
          placeholder={'{ "keys": [ { "kty": "EC", … } ] }'}
        />
        <Field
          name="jwksUri"
          type="url"
          label="Address of your key set"
          hint="Where your server publishes its keys, so that you can change them without coming here. It is read once now."
          isOptional
          isMono
          autoComplete="off"
          placeholder="https://app.example.com/.well-known/jwks.json"
        />
        <div>
          <SubmitButton variant="secondary">{isSet ? "Replace the keys" : "Use these keys"}</SubmitButton>
        </div>
      </div>
    </details>
  );
}
