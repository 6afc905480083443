import { isScope } from "@keyhook/sdk";
import type { ExchangedAccess } from "#core/oauth/exchange/list-tokens-of-member.ts";
import { AppLogo } from "../../_components/applications/app-logo.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { GrantedScopes } from "./granted-scopes.tsx";

/** What the person's organizations have issued in their name (token exchange). They were not asked, so they are told. */
export function IssuedSection({ apps }: Readonly<{ apps: readonly ExchangedAccess[] }>) {
  if (apps.length === 0) return null;
  return (
    <div className="mt-6">
      <SectionCard
        title="Issued by your organizations"
        description="Apps of your organizations that act for you there, without asking each member. They reach nothing of your own. To end it, ask an administrator, or leave the organization."
        isFlush
      >
        <List label="Issued by your organizations">
          {apps.map((app) => (
            <ListRow
              key={`${app.clientId} ${app.organization.name}`}
              leading={<AppLogo app={app} />}
              title={<bdi className="min-w-0 break-words">{app.name}</bdi>}
              meta={
                <>
                  For {app.organization.fullName} ·{" "}
                  {app.tokenCount === 1 ? "1 token" : `${app.tokenCount.toLocaleString("en")} tokens`}, the last{" "}
                  <RelativeTime at={app.lastIssuedAt} /> · ends <RelativeTime at={app.endsAt} />
                </>
              }
            >
              <div className="mt-3 text-small sm:ml-11">
                <GrantedScopes scopes={app.scopes.filter(isScope)} />
              </div>
            </ListRow>
          ))}
        </List>
      </SectionCard>
    </div>
  );
}
