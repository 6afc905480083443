import { Check, ChevronDown } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import type { ConsentRequest } from "#core/oauth/consents/consent-request.ts";
import type { SiteSession } from "../../_server/session.ts";
import { AccountLine } from "../account-line.tsx";
import { SubmitButton } from "../action-form.client.tsx";
import { Avatar } from "../avatar.tsx";
import { BrandMark } from "../brand-mark.tsx";
import { CardFrame } from "../card-frame.tsx";
import { PressGuard } from "../form-buttons.tsx";
import type { FormAction } from "../form-state.ts";
import { FormMessage } from "../page-layout.tsx";
import { formatDuration } from "../relative-time.tsx";
import { AppIdentity } from "./app-identity.tsx";
import { OrganizationChoice, ScopeChoice } from "./choices.tsx";
import { ConsentForm } from "./consent-form.client.tsx";

type ConsentModalProps = Readonly<{
  request: ConsentRequest;
  user: SiteSession["user"];
  decide: FormAction;
  question: Record<string, string>;
  switchAccount: ReactNode;
}>;

/** Shows everything that S26 requires. */
export function ConsentModal({ request, user, decide, question, switchAccount }: ConsentModalProps) {
  return (
    <CardFrame
      width="modal"
      footnote={
        <Link prefetch={false} href="/docs/consent" target="_blank" className="link">
          What does this mean?
        </Link>
      }
    >
      <AppHeader request={request} title={<Title request={request} />} />
      <AccountLine user={user} action={switchAccount} />
      <ConsentForm decide={decide}>
        {Object.entries(question).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {/* Only the account that this page shows may answer (S25). */}
        <input type="hidden" name="account" value={user.id} />
        {/* A fingerprint of the app as this page shows it (S36). */}
        <input type="hidden" name="app" value={request.fingerprint} />
        {request.scopes.length > 0 && <ScopeChoice scopes={request.scopes} email={user.email} />}
        {request.alreadyGranted.length > 0 && <AlreadyGranted granted={request.alreadyGranted} />}
        <ResourceList resources={request.resources} />
        <OrganizationChoice request={request} />
        <Decision request={request} />
        <Duration request={request} />
      </ConsentForm>
    </CardFrame>
  );
}

function Title({ request: { app, scopes, alreadyGranted, organizations } }: Readonly<{ request: ConsentRequest }>) {
  const account = `your ${env().BRAND_NAME} account`;
  // A name in a right-to-left script must not reorder the sentence.
  const name = <bdi>{app.name}</bdi>;
  if (alreadyGranted.length === 0)
    return (
      <>
        {name} wants to access {account}
      </>
    );
  if (scopes.length > 0)
    return (
      <>
        {name} wants more access to {account}
      </>
    );
  const requested = organizations.filter(({ isAskedFor, isAlreadyGranted }) => isAskedFor && !isAlreadyGranted).length;
  if (requested === 0) return <>Continue to {name}?</>;
  return (
    <>
      {name} wants to access {requested === 1 ? "an organization" : `${requested} organizations`}
    </>
  );
}

function AppHeader({ request, title }: Readonly<{ request: ConsentRequest; title: ReactNode }>) {
  const { app } = request;
  return (
    <header className="px-6 pt-6 pb-5">
      <div className="mb-4 flex items-center gap-3" aria-hidden="true">
        <Avatar name={app.name} src={app.logoId ? `/images/${app.logoId}` : undefined} size="lg" kind="app" />
        <span className="flex-1 border-line border-t border-dashed" />
        <span className="grid size-12 place-items-center rounded-control border border-line bg-sunken text-brand">
          <BrandMark className="size-6" />
        </span>
      </div>
      <h1 className="break-words">{title}</h1>
      <div className="mt-2">
        <AppIdentity app={app} />
      </div>
      <Warnings request={request} />
    </header>
  );
}

/** Cancel comes first, so that Enter in a field grants nothing. */
function Decision({ request: { redirectTarget, isOnDevice } }: Readonly<{ request: ConsentRequest }>) {
  return (
    <div className="sticky bottom-0 border-line border-t bg-surface px-6 py-4">
      <div className="grid grid-cols-2 gap-3">
        <SubmitButton name="decision" value="deny" variant="secondary" isWide>
          Cancel
        </SubmitButton>
        <PressGuard>
          <SubmitButton name="decision" value="allow" isWide>
            Authorize
          </SubmitButton>
        </PressGuard>
      </div>
      <p className="mt-2 wrap-anywhere text-center text-muted text-small">
        {redirectTarget === null ? (
          "Then return to your device, which continues automatically."
        ) : (
          <>
            You&rsquo;ll be redirected to {isOnDevice && "the app on this device, "}
            <strong className="text-ink">{redirectTarget}</strong>
          </>
        )}
      </p>
    </div>
  );
}

function Duration({ request: { accessTokenSeconds, isOffline } }: Readonly<{ request: ConsentRequest }>) {
  return (
    <p className="border-line border-t px-6 py-4 text-muted text-small">
      Access lasts {formatDuration(accessTokenSeconds)} at a time
      {isOffline && (
        <>
          , and the app <strong className="text-ink">stays signed in for up to a year</strong>
        </>
      )}
      . You can revoke access anytime under{" "}
      <Link prefetch={false} href="/settings/connected-applications" target="_blank" className="link">
        Connected apps
      </Link>
      .
    </p>
  );
}

function AlreadyGranted({ granted }: Readonly<{ granted: ConsentRequest["alreadyGranted"] }>) {
  return (
    <details className="group px-6 pt-3 pb-2">
      <summary className="flex items-center gap-2">
        <h2 className="flex-1">Already granted</h2>
        <span className="text-muted text-small">{granted.length}</span>
        <ChevronDown className="size-4 text-muted group-open:rotate-180" aria-hidden="true" />
      </summary>
      <ul className="mt-1 grid gap-1.5 pb-1 text-muted text-small">
        {granted.map(({ scope, sentence }) => (
          <li key={scope} className="flex gap-2.5">
            <Check className="mt-0.5 size-4 shrink-0 text-good" aria-hidden="true" />
            {sentence}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The services for which the app requests access (RFC 8707). */
function ResourceList({ resources }: Readonly<{ resources: ConsentRequest["resources"] }>) {
  if (resources.length === 0) return null;
  return (
    <section className="border-line border-t px-6 pt-4 pb-4" aria-labelledby="resources-title">
      <h2 id="resources-title">It can act on your behalf at</h2>
      <ul className="mt-1 grid gap-1">
        {resources.map(({ identifier, name }) => (
          <li key={identifier} className="wrap-anywhere">
            <bdi className="font-medium">{name}</bdi>
            <span className="block text-muted text-small">{identifier}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Warnings({ request }: Readonly<{ request: ConsentRequest }>) {
  const { app, isChanged, isOnDevice, isRedirectToOtherHost, redirectTarget } = request;
  if (!isChanged && !isOnDevice && !isRedirectToOtherHost) return null;
  return (
    <div className="mt-4 grid gap-2">
      {isChanged && (
        <FormMessage>
          You have authorized this app before. Since then it has changed its name, its logo or where it sends you, so it must ask
          again.
        </FormMessage>
      )}
      {isRedirectToOtherHost && (
        // The host of the document is responsible for the app (S88).
        <FormMessage tone="warn">
          You will return to <Host>{redirectTarget}</Host>, a different website from <Host>{app.documentHost}</Host>, where this
          app comes from. Continue only if you know that the two belong together.
        </FormMessage>
      )}
      {isOnDevice && (
        // A document on the web does not prove which program on the device receives the code (S27).
        <FormMessage tone="warn">
          This app runs on your own device, where any program can call itself <bdi>{app.name}</bdi>
          {app.documentHost !== null && (
            <>
              {" "}
              and claim to be from <Host>{app.documentHost}</Host>
            </>
          )}
          . Continue only if you have just started it yourself.
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
