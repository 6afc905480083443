import type { Metadata } from "next";
import { personActor } from "#core/access/actor.ts";
import { findPendingIdentity, type PendingIdentity } from "#core/accounts/identity-providers/pending-identity.ts";
import { env } from "#core/env.ts";
import { AccountLine } from "../../_components/account-line.tsx";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { CardFrame } from "../../_components/card-frame.tsx";
import { CardHeader } from "../../_components/card-header.tsx";
import { Field } from "../../_components/field.client.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { pendingIdentityToken } from "../../_server/elsewhere.ts";
import { nextPath } from "../../_server/next-path.ts";
import { setPageStatus } from "../../_server/page-status.ts";
import { currentSession, type SiteSession } from "../../_server/session.ts";
import { forgetAction, linkAction, signUpAction } from "./actions.ts";

export const metadata: Metadata = { title: "Signed in elsewhere" };

const PAGE = "/login/elsewhere";

/** Somebody has proved who they are at a provider, and nobody here is linked to that: what now? */
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

/** Which account it is elsewhere, as a line of its own: the one thing to look at before agreeing. */
function Elsewhere({ pending }: Readonly<{ pending: PendingIdentity }>) {
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
            ? "From then on, whoever signs in to the account below is let into yours."
            : "It shows your organization that you are who you are there. It does not sign you in here."}
        </CardHeader>
      </div>
      <AccountLine user={session.user} />
      <div className="grid gap-5 px-6 pt-5 pb-6">
        <Elsewhere pending={pending} />
        <div className="grid gap-3">
          <ActionForm action={linkAction} label="Link">
            <SubmitButton isWide>Link</SubmitButton>
          </ActionForm>
          <Forget next={nextPath(pending.next)}>Do not link</Forget>
        </div>
      </div>
    </>
  );
}

function SignUp({ pending }: Readonly<{ pending: PendingIdentity & { choice: "sign-up" } }>) {
  return (
    <>
      <CardHeader title={`Create a ${env().BRAND_NAME} account`}>
        One thing is missing: what you want to be called here.
      </CardHeader>
      <div className="grid gap-5 px-6 pt-5 pb-6">
        <Elsewhere pending={pending} />
        <ActionForm action={signUpAction} values={{ username: pending.username, fullName: pending.fullName }}>
          <Field
            name="username"
            label="Username"
            hint="Public, and part of the addresses of what you own. Letters, digits and single . _ or -"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
          />
          <Field name="fullName" label="Full name" isOptional autoComplete="name" />
          <p className="text-muted text-small">
            Your e-mail address is <strong className="break-words text-ink">{pending.email}</strong>, as {pending.provider.name}{" "}
            has verified it. You sign in with {pending.provider.name}; a password can be set later.
          </p>
          <SubmitButton isWide>Create account</SubmitButton>
        </ActionForm>
        <p className="text-center text-muted text-small">
          Have an account already?{" "}
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
      <CardHeader title={hasAccount ? "You may have an account here" : "Nobody here is linked to this yet"}>
        {hasAccount
          ? `An account has the address ${email}. If it is yours, sign in to it once as you did before; then you can link ${name}.`
          : `If you have an account, sign in to it once as you did before; then you can link ${name}.`}
      </CardHeader>
      <div className="grid gap-5 px-6 pt-5 pb-6">
        <Elsewhere pending={pending} />
        <div className="grid gap-3">
          <ButtonLink variant="primary" isWide href={`/login?${new URLSearchParams(login)}`}>
            Sign in
          </ButtonLink>
          {!hasAccount && (
            <ButtonLink isWide href={`/signup?${new URLSearchParams({ next: PAGE })}`}>
              Create an account
            </ButtonLink>
          )}
          <Forget next={`/login?${new URLSearchParams({ next: nextPath(pending.next) })}`}>Use another way</Forget>
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
      <CardHeader title="This took too long">What came back from the provider is no longer waiting here. Begin again.</CardHeader>
      <div className="px-6 pt-5 pb-6">
        <ButtonLink variant="primary" isWide href="/login">
          Sign in
        </ButtonLink>
      </div>
    </CardFrame>
  );
}
