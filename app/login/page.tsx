import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { arePasskeysAvailable } from "#core/accounts/second-step/relying-party.ts";
import { env } from "#core/env.ts";
import { CardFooter } from "../_components/card-footer.tsx";
import { CardFrame } from "../_components/card-frame.tsx";
import { CardHeader } from "../_components/card-header.tsx";
import { FormMessage } from "../_components/form-message.tsx";
import { SignInElsewhere } from "../_components/sign-in-elsewhere.tsx";
import { nextPath } from "../_server/next-path.ts";
import { type PageQuery, textOf } from "../_server/page-query.ts";
import { providerProblem } from "../_server/provider-problem.ts";
import { currentSession } from "../_server/session.ts";
import { PasskeySignIn } from "./passkey-sign-in.tsx";
import { ReauthenticateForm } from "./reauthenticate-form.tsx";
import { SignInForm } from "./sign-in-form.tsx";

export const metadata: Metadata = { title: "Sign in" };

/** As much of `login_hint` as a username or an e-mail address can have. */
const LOGIN_MAX_CHARACTERS = 320;

type Notice = { tone: "good" | "neutral"; text: string };

/** What brought the person here, said above the form. */
const notices = new Map<string, Notice>([
  ["password-changed", { tone: "good", text: "Your password is changed. Sign in with the new one." }],
  ["ran-out", { tone: "neutral", text: "That sign-in has run out, or was finished. Sign in again." }],
]);

/**
 * @param searchParams `next`: a path of ours to go on to. `reauthenticate`: ask who is signed in to prove it again (S113).
 * `switch`: sign in as somebody else. `login_hint`: fills the first field. `notice`: a key of `notices`. `problem`: why a sign-in elsewhere, `with` a provider, came to nothing.
 */
export default async function SignInPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const next = nextPath(query.next);
  const session = await currentSession();
  if (session && "reauthenticate" in query) return <ReauthenticateForm user={session.user} next={next} />;
  if (session && !("switch" in query)) redirect(next);

  const { BRAND_NAME } = env();
  const notice = notices.get(textOf(query.notice));
  const problem = await providerProblem(textOf(query.problem), textOf(query.with));
  return (
    <CardFrame>
      <CardHeader title={`Sign in to ${BRAND_NAME}`} />
      <div className="grid gap-5 px-6 pt-5 pb-6">
        {problem && <FormMessage tone="bad">{problem}</FormMessage>}
        {notice && <FormMessage tone={notice.tone}>{notice.text}</FormMessage>}
        <SignInForm next={next} login={textOf(query.login_hint).slice(0, LOGIN_MAX_CHARACTERS)} />
        {arePasskeysAvailable() && <PasskeySignIn next={next} />}
        <SignInElsewhere next={next} />
      </div>
      <CardFooter>
        New here?{" "}
        <Link prefetch={false} className="link text-ink" href={`/signup?${new URLSearchParams({ next })}`}>
          Create an account
        </Link>
      </CardFooter>
    </CardFrame>
  );
}
