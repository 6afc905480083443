import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { arePasskeysAvailable } from "#core/accounts/second-step/verify-passkey.ts";
import { invitationAt, readSignUpPolicy } from "#core/accounts/users/sign-up-policy.ts";
import { env } from "#core/env.ts";
import { findWaitingApp } from "#core/oauth/authorization/interaction.ts";
import { ActionForm, SubmitButton } from "../_components/action-form.client.tsx";
import { CardFooter, CardFrame, CardHeader } from "../_components/card-frame.tsx";
import { Field, PasswordField } from "../_components/fields.client.tsx";
import { FormMessage } from "../_components/page-layout.tsx";
import { PasskeyButton } from "../_components/passkey-button.client.tsx";
import { ProviderSignInLinks } from "../_components/provider-sign-in-links.tsx";
import { nextPath } from "../_server/next-path.ts";
import { noticeOf, type PageQuery, textOf } from "../_server/page-query.ts";
import { providerProblem } from "../_server/provider-sign-in.ts";
import { currentSession } from "../_server/session.ts";
import { askForPasskeyToSignInAction, signInAction, signInWithPasskeyAction } from "../_server/sign-in-actions.ts";
import { ReauthenticateForm } from "./reauthenticate-form.tsx";

export const metadata: Metadata = { title: "Sign in" };

const LOGIN_MAX_CHARACTERS = 320;

type Notice = { tone: "good" | "neutral"; text: string };

const notices: Record<string, Notice> = {
  "password-changed": { tone: "good", text: "Password changed. Sign in with the new one." },
  "ran-out": { tone: "neutral", text: "This sign-in has expired or was already completed. Sign in again." },
};

/** @param searchParams `next`: our path. `reauthenticate`: the user authenticates again (S113). `with`: the provider's slug. */
export default async function SignInPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const next = nextPath(query.next);
  const session = await currentSession();
  if (session && "reauthenticate" in query) return <ReauthenticateForm user={session.user} next={next} />;
  if (session && !("switch" in query)) redirect(next);

  const { BRAND_NAME } = env();
  const notice = noticeOf(notices, query.notice);
  const uid = /^\/interaction\/([\w-]+)$/.exec(next)?.[1];
  const app = uid && (await findWaitingApp(uid));
  const problem = await providerProblem(textOf(query.problem), textOf(query.with));
  return (
    <CardFrame>
      <CardHeader title={`Sign in to ${BRAND_NAME}`}>
        {app && (
          <>
            to continue to <bdi className="wrap-anywhere font-medium text-ink">{app}</bdi>
          </>
        )}
      </CardHeader>
      <div className="grid gap-5 px-6 pt-5 pb-6">
        {problem && <FormMessage tone="bad">{problem}</FormMessage>}
        {notice && <FormMessage tone={notice.tone}>{notice.text}</FormMessage>}
        <SignInForm next={next} login={textOf(query.login_hint).slice(0, LOGIN_MAX_CHARACTERS)} />
        {arePasskeysAvailable() && <PasskeySignIn next={next} />}
        <ProviderSignInLinks next={next} />
      </div>
      {((await readSignUpPolicy()).isOpen || (await invitationAt(next))) && (
        <CardFooter>
          New here?{" "}
          <Link prefetch={false} className="link text-ink" href={`/signup?${new URLSearchParams({ next })}`}>
            Create an account
          </Link>
        </CardFooter>
      )}
    </CardFrame>
  );
}

function SignInForm({ next, login }: Readonly<{ next: string; login: string }>) {
  return (
    <ActionForm action={signInAction} values={{ login }}>
      <input type="hidden" name="next" value={next} />
      <Field name="login" label="Username or e-mail" autoComplete="username" autoCapitalize="none" spellCheck={false} />
      <PasswordField
        name="password"
        label="Password"
        autoComplete="current-password"
        aside={
          <Link prefetch={false} className="link" href="/forgot-password">
            Forgot password?
          </Link>
        }
      />
      <SubmitButton isWide>Sign in</SubmitButton>
    </ActionForm>
  );
}

/** A passkey identifies the user and counts as both steps. */
function PasskeySignIn({ next }: Readonly<{ next: string }>) {
  return (
    <ActionForm action={signInWithPasskeyAction} label="Passkey">
      <input type="hidden" name="next" value={next} />
      <PasskeyButton ask={askForPasskeyToSignInAction} variant="secondary" isWide>
        Sign in with a passkey
      </PasskeyButton>
    </ActionForm>
  );
}
