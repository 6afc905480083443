import type { Metadata } from "next";
import { personActor } from "#core/access/actor.ts";
import { findPendingIdentity, type PendingIdentity } from "#core/accounts/identity-providers/pending-identity.ts";
import { env } from "#core/env.ts";
import { AccountLine } from "../../_components/account-line.tsx";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { CardFrame, CardHeader } from "../../_components/card-frame.tsx";
import { PressGuard } from "../../_components/form-buttons.tsx";
import { NameFields } from "../../_components/new-account-fields.tsx";
import { nextPath } from "../../_server/next-path.ts";
import { setPageStatus } from "../../_server/page-status.ts";
import { pendingIdentityToken } from "../../_server/provider-sign-in.ts";
import { currentSession, type SiteSession } from "../../_server/session.ts";
import { forgetAction, linkAction, signUpWithIdentityAction } from "../../_server/sign-in-actions.ts";

export const metadata: Metadata = { title: "Signed in elsewhere" };

const PAGE = "/login/elsewhere";

export default async function ElsewherePage() {
  const [token, session] = await Promise.all([pendingIdentityToken(), currentSession()]);
  const pending = token ? await findPendingIdentity(token, session && personActor(session)) : undefined;
  if (!pending) return <Gone />;
  return (
    <CardFrame>
      {pending.choice === "link" && session ? (
        <LinkQuestion pending={pending} session={session} />
      ) : pending.choice === "sign-up" ? (
        <SignUp pending={pending} />
      ) : (
        <SignInFirst pending={pending} />
      )}
    </CardFrame>
  );
}

function ProviderAccount({ pending }: Readonly<{ pending: PendingIdentity }>) {
  return (
    <p className="rounded-control border border-line bg-sunken px-3 py-2.5">
      <bdi className="wrap-anywhere block font-medium">{pending.displayName}</bdi>
      <span className="block text-muted text-small">at {pending.provider.name}</span>
    </p>
  );
}

function LinkQuestion({ pending, session }: Readonly<{ pending: PendingIdentity; session: SiteSession }>) {
  const { name, orgId } = pending.provider;
  return (
    <>
      <div className="pb-5">
        <CardHeader title={`Link ${name} to your account?`}>
          {orgId === null
            ? `Anyone who can sign in to the account at ${name} can then sign in to yours.`
            : `The account at ${name} then proves your identity to your organization. It does not sign you in here.`}
        </CardHeader>
      </div>
      <AccountLine user={session.user} />
      <div className="grid gap-5 px-6 pt-5 pb-6">
        <ProviderAccount pending={pending} />
        <div className="grid gap-3">
          <ActionForm action={linkAction} label="Link">
            <PressGuard>
              <SubmitButton isWide>Link</SubmitButton>
            </PressGuard>
          </ActionForm>
          <Forget next={nextPath(pending.next)}>Cancel</Forget>
        </div>
      </div>
    </>
  );
}

function SignUp({ pending }: Readonly<{ pending: PendingIdentity & { choice: "sign-up" } }>) {
  return (
    <>
      <CardHeader title={`Create a ${env().BRAND_NAME} account`}>Choose a username to finish.</CardHeader>
      <div className="grid gap-5 px-6 pt-5 pb-6">
        <ProviderAccount pending={pending} />
        <ActionForm action={signUpWithIdentityAction} values={{ username: pending.username, fullName: pending.fullName }}>
          <NameFields />
          <p className="text-muted text-small">
            Your e-mail address is <strong className="break-words text-ink">{pending.email}</strong>, verified by{" "}
            {pending.provider.name}. You sign in with {pending.provider.name}, and can set a password later.
          </p>
          <SubmitButton isWide>Create account</SubmitButton>
        </ActionForm>
        <p className="text-center text-muted text-small">
          Already have an account?{" "}
          <a className="link text-ink" href={`/login?${new URLSearchParams({ next: PAGE })}`}>
            Sign in to link it
          </a>
        </p>
      </div>
    </>
  );
}

function SignInFirst({ pending }: Readonly<{ pending: PendingIdentity & { choice: string } }>) {
  const { name } = pending.provider;
  const hasAccount = "hasAccount" in pending && pending.hasAccount;
  const email = "email" in pending ? pending.email : null;
  const login = { next: PAGE, ...(hasAccount && email ? { login_hint: email } : {}) };
  return (
    <>
      <CardHeader title={hasAccount ? "You may have an account here" : "This account is not linked yet"}>
        {hasAccount
          ? `An account has the address ${email}. If it is yours, sign in to it as before, then link ${name}.`
          : `If you have an account, sign in to it as before, then link ${name}.`}
      </CardHeader>
      <div className="grid gap-5 px-6 pt-5 pb-6">
        <ProviderAccount pending={pending} />
        <div className="grid gap-3">
          <ButtonLink variant="primary" isWide href={`/login?${new URLSearchParams(login)}`}>
            Sign in
          </ButtonLink>
          {"maySignUp" in pending && pending.maySignUp && (
            <ButtonLink isWide href={`/signup?${new URLSearchParams({ next: PAGE })}`}>
              Create an account
            </ButtonLink>
          )}
          <Forget next={`/login?${new URLSearchParams({ next: nextPath(pending.next) })}`}>Use another method</Forget>
        </div>
      </div>
    </>
  );
}

function Forget({ next, children }: Readonly<{ next: string; children: string }>) {
  return (
    <ActionForm action={forgetAction} label={children}>
      <input type="hidden" name="next" value={next} />
      <SubmitButton variant="quiet" isWide>
        {children}
      </SubmitButton>
    </ActionForm>
  );
}

function Gone() {
  setPageStatus(410);
  return (
    <CardFrame>
      <CardHeader
        title={
          <>
            This <span className="whitespace-nowrap">sign-in</span> has expired
          </>
        }
      >
        The response from the provider has expired. Start again.
      </CardHeader>
      <div className="px-6 pt-5 pb-6">
        <ButtonLink variant="primary" isWide href="/login">
          Sign in
        </ButtonLink>
      </div>
    </CardFrame>
  );
}
