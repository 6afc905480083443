import Link from "next/link";
import { env } from "#core/env.ts";
import type { ConsentRequest } from "#core/oauth/consents/consent-request.ts";
import { AccountLine } from "../../_components/account-line.tsx";
import type { SiteSession } from "../../_server/session.ts";
import { AlreadyGranted } from "./already-granted.tsx";
import { AppHeader } from "./app-header.tsx";
import { ConsentForm } from "./consent-form.client.tsx";
import { Decision } from "./decision.tsx";
import { OrganizationChoice } from "./organization-choice.tsx";
import { interactionPath } from "./read-consent-page.ts";
import { ScopeChoice } from "./scope-choice.tsx";

export type ConsentModalProps = Readonly<{ uid: string; request: ConsentRequest; user: SiteSession["user"] }>;

/** From top to bottom what S26 asks for: who asks, as whom, for what, in which organizations, for how long, and where it leads. */
export function ConsentModal({ uid, request, user }: ConsentModalProps) {
  const switchPath = `/login?${new URLSearchParams({ switch: "1", next: interactionPath(uid) })}`;
  return (
    <>
      <AppHeader request={request} title={<Title request={request} />} />
      <AccountLine
        user={user}
        action={
          <Link prefetch={false} href={switchPath} className="link">
            Switch account
          </Link>
        }
      />
      <ConsentForm>
        <input type="hidden" name="uid" value={uid} />
        {/* Whom this page shows: an answer is taken from this account only (S25). */}
        <input type="hidden" name="account" value={user.id} />
        {request.scopes.length > 0 && <ScopeChoice scopes={request.scopes} email={user.email} />}
        {request.alreadyGranted.length > 0 && <AlreadyGranted granted={request.alreadyGranted} />}
        <OrganizationChoice request={request} />
        <Decision request={request} />
      </ConsentForm>
    </>
  );
}

function Title({ request: { app, scopes, alreadyGranted, organizations } }: Readonly<{ request: ConsentRequest }>) {
  const account = `your ${env().BRAND_NAME} account`;
  // Isolated, so that a name written from right to left does not turn the sentence around.
  const name = <bdi>{app.name}</bdi>;
  if (alreadyGranted.length === 0)
    return (
      <>
        {name} wants to use {account}
      </>
    );
  if (scopes.length > 0)
    return (
      <>
        {name} asks for more access to {account}
      </>
    );
  const isForOrganization = organizations.some(({ isAskedFor, isAlreadyGranted }) => isAskedFor && !isAlreadyGranted);
  return isForOrganization ? <>{name} asks for access to an organization</> : <>Continue to {name}?</>;
}
