import { Plug } from "lucide-react";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { env } from "#core/env.ts";
import { listConsents } from "#core/oauth/consents/list-consents.ts";
import { listTokensOfMember } from "#core/oauth/exchange/list-tokens-of-member.ts";
import { listDelegated } from "#core/webhooks/delegated.ts";
import { Card } from "../../_components/card.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { Pagination } from "../../_components/pagination.tsx";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { requireSession } from "../../_server/session.ts";
import { ConnectedAppRow } from "./connected-app-row.tsx";
import { connectedAppsPath } from "./connected-apps-path.ts";
import { IssuedSection } from "./issued-section.tsx";

export const metadata: Metadata = { title: "Connected apps" };

/** Every app that the person has let in, what it may do and where, and the way to take that back (S114). */
export default async function ConnectedAppsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const { userId } = await requireSession(connectedAppsPath());
  const [{ items, page, pageSize, total }, issued] = await Promise.all([
    listConsents(userId, { page: Number(textOf(query.page)) }),
    listTokensOfMember(userId),
  ]);
  const delegated = await listDelegated(items.map(({ consentId }) => consentId));
  // The last app of the last page was revoked, or the address is made up.
  if (items.length === 0 && total > 0) redirect(connectedAppsPath(Math.ceil(total / pageSize)));
  return (
    <>
      <PageHeader
        title="Connected apps"
        description={`Apps and websites that you signed in to with ${env().BRAND_NAME}. What you revoke here stops working at once.`}
      />
      {textOf(query.notice) === "revoked" && (
        <FormMessage tone="good" className="mb-5">
          Access is revoked. The app is refused from now on; if you sign in there again, it has to ask you anew.
        </FormMessage>
      )}
      <Card>
        {total === 0 ? (
          <EmptyState Icon={Plug} title="No connected apps">
            When you sign in somewhere with {env().BRAND_NAME}, the app stands here, with all that you allowed it.
          </EmptyState>
        ) : (
          <List label="Connected apps">
            {items.map((app) => (
              <ConnectedAppRow key={app.consentId} app={app} page={page} delegated={delegated.get(app.consentId)} />
            ))}
          </List>
        )}
      </Card>
      <Pagination label="connected apps" page={page} pageSize={pageSize} total={total} hrefOf={connectedAppsPath} />
      <IssuedSection apps={issued} />
    </>
  );
}
