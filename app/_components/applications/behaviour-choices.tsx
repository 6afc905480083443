import { ChoiceRow } from "../choice-row.client.tsx";

export type BehaviourChoicesProps = Readonly<{
  isPkceRequired: boolean;
  isRefreshAllowed: boolean;
  isDeviceFlowAllowed: boolean;
  /** Only an app with a secret or keys can do without PKCE (S8). */
  mayDropPkce: boolean;
}>;

/** How an app gets its tokens. */
export function BehaviourChoices(behaviour: BehaviourChoicesProps) {
  return (
    <div className="divide-y divide-line">
      <ChoiceRow
        type="checkbox"
        name="isPkceRequired"
        label="Require PKCE"
        hint={
          behaviour.mayDropPkce
            ? "Protects the sign-in against stolen codes. Turn it off only for an app with a secret whose library is too old for it."
            : "Always on for a public app: PKCE is all that ties a code to the app that asked for it."
        }
        defaultChecked={behaviour.isPkceRequired}
        isDisabled={!behaviour.mayDropPkce}
      />
      <ChoiceRow
        type="checkbox"
        name="isRefreshAllowed"
        label="Always give refresh tokens"
        hint={
          <>
            The app stays signed in beyond the 8 hours of an access token. Without this it can still ask for the scope{" "}
            <code>offline_access</code>.
          </>
        }
        defaultChecked={behaviour.isRefreshAllowed}
      />
      <ChoiceRow
        type="checkbox"
        name="isDeviceFlowAllowed"
        label="Allow the device flow"
        hint="For command lines and devices without a browser: people enter a short code on another device. It needs no redirect URI, and always gets refresh tokens."
        defaultChecked={behaviour.isDeviceFlowAllowed}
      />
    </div>
  );
}
