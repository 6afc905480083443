"use client";

import { ActionForm, SubmitButton } from "../action-form.client.tsx";
import { useIsRefused } from "../details-form.client.tsx";
import { CancelButton, Disclosure } from "../disclosure.client.tsx";
import { Field, TextArea } from "../fields.client.tsx";
import type { FormAction } from "../form-state.ts";

type KeysFormProps = Readonly<{
  action: FormAction;
  isSet: boolean;
  hasSecret: boolean;
  /** Whether the app is bound to an organization. Such an app needs a secret for token exchange. */
  isBound: boolean;
}>;

export function KeysForm({ action, ...keys }: KeysFormProps) {
  return (
    <ActionForm action={action} label="Keys" className="grid max-w-reading gap-4">
      <Keys {...keys} />
    </ActionForm>
  );
}

function Keys({ isSet, hasSecret, isBound }: Omit<KeysFormProps, "action">) {
  return (
    <Disclosure trigger={isSet ? "Replace keys" : "Use keys"} isOpen={useIsRefused()}>
      <div className="mt-3 grid gap-5 rounded-control border border-line p-4">
        <p className="text-small">
          Enter either the keys or their URL. {isSet && "They replace all current keys. "}
          {hasSecret &&
            `An app authenticates in only one way: its secret stops working immediately${isBound ? ", and token exchange with it" : ""}.`}
        </p>
        <TextArea
          name="jwks"
          label="Public keys"
          hint="A JSON Web Key Set, or PEM. RSA (2,048 bits or more), P-256 or Ed25519. Never enter private keys."
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
          label="URL of your key set"
          hint="Where your server publishes its keys, so that you can rotate them without changing anything here. When you send this form, we read the URL to check the keys."
          isOptional
          isMono
          placeholder="https://app.example.com/.well-known/jwks.json"
        />
        <div className="flex flex-wrap gap-2">
          <SubmitButton>{isSet ? "Replace the keys" : "Use these keys"}</SubmitButton>
          <CancelButton />
        </div>
      </div>
    </Disclosure>
  );
}
