import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import type { ConsentRequest } from "#core/oauth/consents/consent-request.ts";
import type { SiteSession } from "../../_server/session.ts";
import { AccountLine } from "../account-line.tsx";
import type { FormAction } from "../form-state.ts";
import { AlreadyGranted } from "./already-granted.tsx";
import { AppHeader } from "./app-header.tsx";
import { ConsentForm } from "./consent-form.client.tsx";
import { Decision } from "./decision.tsx";
import { OrganizationChoice } from "./organization-choice.tsx";
import { ResourceList } from "./resource-list.tsx";
import { ScopeChoice } from "./scope-choice.tsx";

export type ConsentModalProps = Readonly<{
  request: ConsentRequest;
  user: SiteSession["user"];
  /** Takes the answer: the fields of the form, and `decision`, which is `allow` or `deny`. */
  decide: FormAction;
  /** What the answer is to: the fields that name the question. */
  question: Record<string, string>;
  /** Leads back to the question with another account. */
  switchAccount: ReactNode;
}>;

/** From top to bottom what S26 asks for: who asks, as whom, for what, in which organizations, for how long, and where it leads. */
export function ConsentModal({ request, user, decide, question, switchAccount }: ConsentModalProps) {
  return (
    <>
      <AppHeader request={request} title={<Title request={request} />} />
      <AccountLine user={user} action={switchAccount} />
      <ConsentForm decide={decide}>
        {Object.entries(question).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {/* Whom this page shows: an answer is taken from this account only (S25). */}
        <input type="hidden" name="account" value={user.id} />
        {/* And what the app looks like on it (S36). */}
        <input type="hidden" name="app" value={request.fingerprint} />
        {request.scopes.length > 0 && <ScopeChoice scopes={request.scopes} email={user.email} />}
        {request.alreadyGranted.length > 0 && <AlreadyGranted granted={request.alreadyGranted} />}
        <ResourceList resources={request.resources} />
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
