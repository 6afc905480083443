import type { ConsentRequest } from "#core/oauth/consents/consent-request.ts";
import { FormMessage } from "../form-message.tsx";

/** What is unusual about this request: said calmly, each with what to look at before going on. */
export function Warnings({ request }: Readonly<{ request: ConsentRequest }>) {
  const { app, isChanged, isOnDevice, isRedirectElsewhere, redirectTarget } = request;
  if (!isChanged && !isOnDevice && !isRedirectElsewhere) return null;
  return (
    <div className="mt-4 grid gap-2">
      {isChanged && (
        <FormMessage>
          You have allowed this app before. It has changed its name, its logo or where it sends you since, so it asks again.
        </FormMessage>
      )}
      {isRedirectElsewhere && (
        // Who serves the document answers for the app; that it hands people to somebody else may be in order, or not (S88).
        <FormMessage tone="warn">
          Your answer goes to <Host>{redirectTarget}</Host>, another website than <Host>{app.documentHost}</Host>, which this app
          comes from. Go on only if you know that both belong together.
        </FormMessage>
      )}
      {isOnDevice && (
        // Any program can listen there, and a document on the web is nobody's proof that it is the right one (S27).
        <FormMessage tone="warn">
          This app runs on your own device, where any program can call itself <bdi>{app.name}</bdi>
          {app.documentHost !== null && (
            <>
              {" "}
              and point to <Host>{app.documentHost}</Host>
            </>
          )}
          . Go on only if you have just started it yourself.
        </FormMessage>
      )}
    </div>
  );
}

function Host({ children }: Readonly<{ children: string | null }>) {
  return (
    <strong className="wrap-anywhere">
      <bdi>{children}</bdi>
    </strong>
  );
}
