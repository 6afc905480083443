import { env } from "#core/env.ts";
import { RedirectUrisField } from "./redirect-uris-field.client.tsx";

/** Where an app may send people: after signing in, and after signing out. */
export function RedirectFields() {
  const ownOrigin = env().ORIGIN;
  return (
    <>
      <RedirectUrisField
        name="redirectUris"
        label="Redirect URIs"
        hint="One per line, exactly as your app sends them. Any https address; http on localhost, 127.0.0.1 or [::1], there on any port; or your app's own scheme. None is needed if the device flow is all that the app uses."
        ownOrigin={ownOrigin}
        placeholder="https://app.example.com/oauth/callback"
      />
      <RedirectUrisField
        name="postLogoutRedirectUris"
        label="After signing out"
        hint="Where people may return to when your app also ends their session here."
        isOptional
        ownOrigin={ownOrigin}
        placeholder="https://app.example.com/"
      />
    </>
  );
}
