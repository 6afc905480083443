import type { Metadata } from "next";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { listSiteSessions } from "#core/accounts/sessions/list-site-sessions.ts";
import { FormMessage } from "../../_components/form-message.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { requireSession } from "../../_server/session.ts";
import { DeleteSection } from "./delete-section.tsx";
import { EmailSection } from "./email-section.tsx";
import { SessionsSection } from "./sessions-section.tsx";

export const metadata: Metadata = { title: "E-mail and sessions" };

/** What just happened, said once after a redirect. */
const notices = new Map([
  ["email-changed", "Your e-mail address is changed."],
  ["session-ended", "That session is ended."],
  ["sessions-ended", "All other sessions are ended."],
]);

export default async function AccountPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await requireSession("/settings/account");
  const message = notices.get(textOf((await searchParams).notice));
  const { user } = session;
  return (
    <>
      <PageHeader title="E-mail and sessions" description="Your address, and where you are signed in." />
      <div className="grid gap-5">
        {message && <FormMessage tone="good">{message}</FormMessage>}
        <EmailSection user={user} isRecent={isRecentlyAuthenticated(session)} />
        <SessionsSection sessions={await listSiteSessions(user.id)} currentId={session.id} />
        <DeleteSection user={user} />
      </div>
    </>
  );
}
