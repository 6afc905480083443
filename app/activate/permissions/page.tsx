import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { CardFrame } from "../../_components/card-frame.tsx";
import { ConsentModal } from "../../_components/consent/consent-modal.tsx";
import { isPageRefused } from "../../_server/page-status.ts";
import { decide } from "../actions.ts";
import { CodeOver } from "../code-over.tsx";
import { CONFIRM_PATH } from "../device-code.ts";
import { readDevicePage } from "../read-device-page.ts";
import { SwitchAccount } from "../switch-account.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const page = await readDevicePage();
  return { title: page.step === "ask" ? `Authorize ${page.request.consent.app.name}` : "Connect a device" };
}

/** The permissions modal for a device: the same question as an app in the browser asks, answered from here. */
export default async function DevicePermissionsPage() {
  const page = await readDevicePage();
  if (page.step === "over") return <CodeOver reason={page.reason} />;
  if (!page.isConfirmed && !isPageRefused()) redirect(CONFIRM_PATH);
  const { request, session } = page;
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
        request={request.consent}
        user={session.user}
        decide={decide}
        question={{ user_code: request.userCode }}
        switchAccount={<SwitchAccount userCode={request.userCode} />}
      />
    </CardFrame>
  );
}
