import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { CardFrame } from "../../_components/card-frame.tsx";
import { ConsentModal } from "../../_components/consent/consent-modal.tsx";
import { isPageRefused, setPageStatus } from "../../_server/page-status.ts";
import { decide } from "./actions.ts";
import { AnotherAccount } from "./another-account.tsx";
import { interactionPath, readConsentPage } from "./read-consent-page.ts";
import { RunOut } from "./run-out.tsx";

type Props = Readonly<{ params: Promise<{ uid: string }> }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const page = await readConsentPage((await params).uid);
  return { title: page.step === "ask" ? `Authorize ${page.request.app.name}` : "Sign in" };
}

/**
 * The permissions modal: what an app asks of a person, and their answer. It is a form that works without JavaScript, and under
 * server.ts no script runs on it at all (server/remove-scripts.ts).
 */
export default async function InteractionPage({ params }: Props) {
  const { uid } = await params;
  const page = await readConsentPage(uid);
  if (page.step === "gone") {
    setPageStatus(410);
    return <RunOut />;
  }
  if (page.step === "go") {
    // A refused answer is being explained: a redirect would send the browser there with the form once more.
    if (isPageRefused()) return <AnotherAccount uid={uid} />;
    redirect(page.url);
  }
  return (
    <CardFrame
      width="modal"
      footnote={
        <Link prefetch={false} href="/docs/consent" target="_blank" className="link">
          What does this mean?
        </Link>
      }
    >
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
    </CardFrame>
  );
}
