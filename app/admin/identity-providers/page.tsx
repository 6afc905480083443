import { KeyRound } from "lucide-react";
import type { Metadata } from "next";
import { redirectUriOf } from "#core/accounts/identity-providers/identity-provider.ts";
import { listIdentityProviders } from "#core/accounts/identity-providers/list-identity-providers.ts";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { AddProvider } from "./add-provider.tsx";
import { ProviderRow } from "./provider-row.tsx";

export const metadata: Metadata = { title: "Identity providers · Administration" };

/** Where people may sign in elsewhere; bounded, so that the list is whole. */
export default async function IdentityProvidersPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const operator = await requireOperator("/admin/identity-providers");
  const [providers, query] = await Promise.all([listIdentityProviders(operator), searchParams]);
  return (
    <>
      <PageHeader
        title="Identity providers"
        description="Where people can prove who they are instead of giving a password here. You trust each of them to say who somebody is."
      />
      <div className="grid grid-cols-1 gap-5">
        {textOf(query.notice) === "removed" && (
          <FormMessage tone="good">The provider is removed, and nobody is linked to it any more.</FormMessage>
        )}
        <SectionCard title="Providers that are set up" isFlush>
          {providers.length === 0 ? (
            <EmptyState Icon={KeyRound} title="There are none">
              People sign in with their password or a passkey. Add a provider below, and its button appears at the sign-in page.
            </EmptyState>
          ) : (
            <List label="Identity providers">
              {providers.map((provider) => (
                <ProviderRow key={provider.id} provider={provider} />
              ))}
            </List>
          )}
        </SectionCard>
        <AddProvider redirectUri={redirectUriOf("NAME")} />
      </div>
    </>
  );
}
