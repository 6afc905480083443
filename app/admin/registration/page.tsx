import type { Metadata } from "next";
import Link from "next/link";
import { listAllApps } from "#core/oauth/apps/list-all-apps.ts";
import { readRegistrationPolicy } from "#core/oauth/registration/registration-policy.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { Chip } from "../../_components/chip.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { appsPath } from "../apps/apps-path.ts";
import { setRegistrationAction } from "./actions.ts";

export const metadata: Metadata = { title: "Registration · Administration" };

/** What just happened, said once after a redirect. */
const notices: Record<string, string> = {
  on: "Apps may register themselves from now on.",
  off: "No further app can register itself. Those that have are still there.",
};

/** The switch for dynamic registration (RFC 7591). */
export default async function RegistrationPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const operator = await requireOperator("/admin/registration");
  const [{ isOn, changedAt }, { total }, query] = await Promise.all([
    readRegistrationPolicy(),
    listAllApps(operator, { state: "self_registered", pageSize: 1 }),
    searchParams,
  ]);
  const notice = noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader title="Registration" description="How apps come in that nobody here has made." />
      <div className="grid gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <SectionCard
          title="Apps that register themselves"
          description="Dynamic client registration: any program may make an app of its own, without an account. Agents that cannot serve a metadata document use it."
          action={<Chip tone={isOn ? "good" : "neutral"}>{isOn ? "On" : "Off"}</Chip>}
        >
          <div className="grid max-w-reading gap-4">
            <p>
              {isOn
                ? "Anybody can register an app, at a limited rate. Each is shown as not verified, and people decide about it as about any other."
                : "Leave it off unless a program needs it: apps known by a metadata document come in without it."}{" "}
              {changedAt && (
                <span className="text-muted">
                  Decided <RelativeTime at={changedAt} />.
                </span>
              )}
            </p>
            <p>
              {total === 0 ? (
                <span className="text-muted">No app has registered itself.</span>
              ) : (
                <Link prefetch={false} href={appsPath({ search: "", state: "self_registered" })} className="link">
                  {total === 1 ? "1 app has registered itself" : `${total.toLocaleString("en")} apps have registered themselves`}
                </Link>
              )}
            </p>
            <ActionForm action={setRegistrationAction} label="Apps that register themselves">
              <input type="hidden" name="isOn" value={isOn ? "0" : "1"} />
              <div>
                <SubmitButton variant={isOn ? "danger" : "secondary"}>{isOn ? "Turn off" : "Turn on"}</SubmitButton>
              </div>
            </ActionForm>
          </div>
        </SectionCard>
      </div>
    </>
  );
}
