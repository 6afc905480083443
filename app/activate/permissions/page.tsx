import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { ConsentModal } from "../../_components/consent/consent-modal.tsx";
import { isPageRefused } from "../../_server/page-status.ts";
import { decide } from "../actions.ts";
import { CodeOver, SwitchAccount } from "../code-over.tsx";
import { CONFIRM_PATH } from "../device-code.ts";
import { readDevicePage } from "../read-device-page.ts";

export async function generateMetadata(): Promise<Metadata> {
  const page = await readDevicePage();
  return { title: page.step === "ask" ? `Authorize ${page.request.consent.app.name}` : "Connect a device" };
}

export default async function DevicePermissionsPage() {
  const page = await readDevicePage();
  if (page.step === "over") return <CodeOver reason={page.reason} />;
  if (!page.isConfirmed && !isPageRefused()) redirect(CONFIRM_PATH);
  const { request, session } = page;
  return (
    <ConsentModal
      request={request.consent}
      user={session.user}
      decide={decide}
      question={{ user_code: request.userCode }}
      switchAccount={<SwitchAccount userCode={request.userCode} />}
    />
  );
}
