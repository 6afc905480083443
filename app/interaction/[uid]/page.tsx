import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { ButtonLink } from "../../_components/button.tsx";
import { Gone } from "../../_components/card-frame.tsx";
import { ConsentModal } from "../../_components/consent/consent-modal.tsx";
import { isPageRefused, setPageStatus } from "../../_server/page-status.ts";
import { decide } from "./actions.ts";
import { interactionPath, readConsentPage } from "./read-consent-page.ts";

type Props = Readonly<{ params: Promise<{ uid: string }> }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const page = await readConsentPage((await params).uid);
  return { title: page.step === "ask" ? `Authorize ${page.request.app.name}` : "Sign in" };
}

/** Works without JavaScript. server/remove-scripts.ts removes all scripts from the page. */
export default async function InteractionPage({ params }: Props) {
  const { uid } = await params;
  const page = await readConsentPage(uid);
  if (page.step === "gone") {
    setPageStatus(410);
    return <Expired />;
  }
  if (page.step === "go") {
    // The page must explain the refusal. A redirect would make the browser submit the form again.
    if (isPageRefused()) return <AnotherAccount uid={uid} />;
    redirect(page.url);
  }
  return (
    <ConsentModal
      request={page.request}
      user={page.session.user}
      decide={decide}
      question={{ uid }}
      switchAccount={
        <Link
          prefetch={false}
          href={`/login?${new URLSearchParams({ switch: "1", next: interactionPath(uid) })}`}
          className="link"
        >
          Switch account
        </Link>
      }
    />
  );
}

/** The user answered a page that showed another account. Nothing was granted (S25, S34). */
function AnotherAccount({ uid }: Readonly<{ uid: string }>) {
  return (
    <Gone
      title="You switched accounts"
      action={
        <ButtonLink variant="primary" href={interactionPath(uid)}>
          Reload
        </ButtonLink>
      }
    >
      You are now signed in with another account, so your decision was not saved.
    </Gone>
  );
}

/** Answered, expired, foreign and unknown questions must look the same. */
function Expired() {
  return (
    <Gone
      title={
        <>
          This <span className="whitespace-nowrap">sign-in</span> has expired
        </>
      }
      action={<ButtonLink href="/">Go home</ButtonLink>}
    >
      It was already completed, or was left open too long. To sign in, go back to the app and start again.
    </Gone>
  );
}
