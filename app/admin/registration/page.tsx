import type { Metadata } from "next";
import Link from "next/link";
import { listAllApps } from "#core/oauth/apps/list-apps.ts";
import { readRegistrationPolicy } from "#core/oauth/registration/registration-policy.ts";
import { PageColumn } from "../../_components/page-layout.tsx";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { setRegistrationAction } from "../actions.ts";
import { APPS_PATH } from "../paths.ts";
import { SwitchCard } from "../switch-card.tsx";

export const metadata: Metadata = { title: "Registration · Administration" };

const notices: Record<string, string> = {
  on: "Apps can now register themselves.",
  off: "Apps can no longer register themselves. Registered apps are kept.",
};

/** The operator decides whether apps may register themselves (RFC 7591). */
export default async function RegistrationPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const operator = await requireOperator("/admin/registration");
  const [{ isOn, changedAt }, { total }, query] = await Promise.all([
    readRegistrationPolicy(),
    listAllApps(operator, { state: "self_registered", pageSize: 1 }),
    searchParams,
  ]);
  return (
    <PageColumn title="Registration" description="Let apps register themselves." notice={noticeOf(notices, query.notice)}>
      <SwitchCard
        title="Dynamic registration"
        description="With dynamic client registration, any program can create an app without an account. Agents that cannot serve a metadata document use it."
        sentence={
          isOn
            ? "Anyone can register an app, at a limited rate. Such apps are shown as not verified."
            : "Leave it off unless a program needs it. Apps with a metadata document work without it."
        }
        isOn={isOn}
        changedAt={changedAt}
        field="isOn"
        action={setRegistrationAction}
      >
        <p>
          {total === 0 ? (
            <span className="text-muted">No app has registered itself.</span>
          ) : (
            <Link prefetch={false} href={`${APPS_PATH}?state=self_registered`} className="link">
              {total === 1 ? "1 app has registered itself" : `${total.toLocaleString("en")} apps have registered themselves`}
            </Link>
          )}
        </p>
      </SwitchCard>
    </PageColumn>
  );
}
