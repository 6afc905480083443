import type { KeyDescription } from "#core/oauth/apps/describe-keys.ts";
import type { AppDetails } from "#core/oauth/apps/get-app.ts";
import { hasKeys } from "#core/oauth/apps/has-keys.ts";
import { removeKeysAction, setKeysAction } from "../../_server/applications/security-actions.ts";
import { ConfirmDestructive } from "../confirm-destructive.client.tsx";
import { KeysForm } from "./keys-form.client.tsx";

export type KeysPartProps = Readonly<{ details: AppDetails; isRecent: boolean }>;

/** The public keys that an app proves itself with in the place of a secret. */
export function KeysPart({ details: { app, keys, secrets }, isRecent }: KeysPartProps) {
  const isSet = hasKeys(app);
  return (
    <div id="keys" className="grid gap-3 border-line border-t pt-5">
      <h3 className="font-medium">Keys in place of a secret</h3>
      <p className="max-w-reading text-muted text-small">
        Your server signs a short message with a private key that never leaves it, and we check it with the public half (
        <code>private_key_jwt</code>). No secret is sent, and none can leak from here. For apps on a server of yours.
      </p>
      {isSet && <PresentKeys keys={keys} address={app.jwksUri} />}
      {isRecent && (
        <>
          <KeysForm action={setKeysAction.bind(null, app.id)} isSet={isSet} endsSecret={secrets.length > 0} />
          {isSet && (
            <ConfirmDestructive
              action={removeKeysAction.bind(null, app.id)}
              trigger="Remove keys"
              title={`Remove the keys of ${app.name}?`}
              confirm="Remove the keys"
            >
              Sign-ins that use them stop working at once. {app.name} works as a public app from now on: with its client ID and
              PKCE. You can add a secret then.
            </ConfirmDestructive>
          )}
        </>
      )}
    </div>
  );
}

function PresentKeys({ keys, address }: Readonly<{ keys: readonly KeyDescription[]; address: string | null }>) {
  if (address) {
    return (
      <p className="text-small">
        Read at <code className="break-all">{address}</code>
      </p>
    );
  }
  return (
    <ul className="grid max-w-reading gap-2">
      {keys.map(({ kid, algorithms, thumbprint }) => (
        <li key={kid} className="grid gap-0.5 rounded-control border border-line px-3 py-2 text-small">
          <span>
            <span className="text-muted">kid</span> <code className="break-all">{kid}</code>
          </span>
          <span>
            <span className="text-muted">signs with</span> {algorithms.join(" or ")}
          </span>
          {thumbprint !== kid && (
            <span>
              <span className="text-muted">thumbprint</span> <code className="break-all">{thumbprint}</code>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
