import type { Metadata } from "next";
import Link from "next/link";
import { findAllowedApp } from "#core/oauth/consents/list-consents.ts";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { currentSession } from "../../_server/session.ts";
import { Outcome } from "../code-over.tsx";

export const metadata: Metadata = { title: "Your device is authorized" };

/** @param searchParams `app`: the client ID. Anybody can create such a URL, so only users who allowed the app see its name. */
export default async function SuccessPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await currentSession();
  const app = session && (await findAllowedApp(session.user.id, textOf((await searchParams).app)));
  return (
    <Outcome
      tone="good"
      title={
        app ? (
          <>
            You have authorized <bdi>{app.name}</bdi>
          </>
        ) : (
          "Your device is authorized"
        )
      }
    >
      <p>Return to your device, which continues within a few seconds. You can close this page.</p>
      <p className="text-muted text-small">
        If it says that the code has expired, start again there. You can revoke access at any time under{" "}
        <Link prefetch={false} href="/settings/connected-applications" className="link">
          Connected apps
        </Link>
        .
      </p>
    </Outcome>
  );
}
