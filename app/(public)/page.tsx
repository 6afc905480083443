import { FormMessage } from "../_components/form-message.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import type { PageQuery } from "../_server/page-query.ts";
import { currentSession } from "../_server/session.ts";
import { Home } from "./home.tsx";
import { Welcome } from "./welcome.tsx";

/** The first page: what this is for whoever does not know it, what to do next for whoever does. */
export default async function StartPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [session, { notice }] = await Promise.all([currentSession(), searchParams]);
  return (
    <SiteFrame>
      <main id="main" className="mx-auto w-full max-w-page px-4 py-7 sm:px-5">
        {notice === "account-deleted" && <FormMessage tone="good">Your account is deleted.</FormMessage>}
        {session ? <Home session={session} /> : <Welcome />}
      </main>
    </SiteFrame>
  );
}
