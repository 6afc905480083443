import { Link2 } from "lucide-react";
import type { Metadata } from "next";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import { type LinkedIdentity, listLinkedIdentities, signInMethods } from "#core/accounts/identity-providers/linked-identities.ts";
import { listOfferedProviders, type OfferedProvider } from "#core/accounts/identity-providers/manage-identity-providers.ts";
import { ActionForm, SubmitButton } from "../../_components/action-form.client.tsx";
import { buttonClass } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/details-form.client.tsx";
import { EmptyState, List, ListRow } from "../../_components/list.tsx";
import { NewPasswordField } from "../../_components/new-account-fields.tsx";
import { FormMessage, PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { noticeOf, type PageQuery, textOf } from "../../_server/page-query.ts";
import { providerProblem, providerSignInPath } from "../../_server/provider-sign-in.ts";
import { requireSession } from "../../_server/session.ts";
import { setPasswordAction, unlinkAction } from "../actions.ts";

export const metadata: Metadata = { title: "Linked accounts" };

const PAGE = "/settings/linked-accounts";

const notices = {
  linked: "Account linked.",
  unlinked: "Account unlinked.",
  "password-set": "You now have a password, and can sign in with it. Your other sessions were ended.",
};

export default async function LinkedAccountsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await requireSession(PAGE);
  const query = await searchParams;
  const [identities, offered, ways, problem] = await Promise.all([
    listLinkedIdentities(session.userId),
    listOfferedProviders(),
    signInMethods(session.userId),
    providerProblem(textOf(query.problem), textOf(query.with)),
  ]);
  const notice = noticeOf(notices, query.notice);
  const isRecent = isRecentlyAuthenticated(session);
  const linked = new Set(identities.map(({ provider }) => provider.slug));
  return (
    <PageColumn title="Linked accounts" description="Your accounts at other providers.">
      {problem && <FormMessage tone="bad">{problem}</FormMessage>}
      {notice && <FormMessage tone="good">{notice}</FormMessage>}
      <SectionCard title="Accounts" isFlush>
        {identities.length === 0 ? (
          <EmptyState Icon={Link2} title="No linked accounts">
            {offered.length > 0
              ? "Link one below to sign in without a password."
              : "This service offers no identity providers to link."}
          </EmptyState>
        ) : (
          <List label="Linked accounts">
            {identities.map((identity) => (
              <IdentityRow key={identity.id} identity={identity} />
            ))}
          </List>
        )}
      </SectionCard>
      {offered.length > 0 && <LinkSection offered={offered} linked={linked} />}
      {!ways.hasPassword && <PasswordSection isRecent={isRecent} />}
    </PageColumn>
  );
}

function IdentityRow({ identity }: Readonly<{ identity: LinkedIdentity }>) {
  const { id, displayName, provider, createdAt, lastUsedAt } = identity;
  const { organization } = provider;
  return (
    <ListRow
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{displayName}</bdi>
          {provider.isDisabled && <Chip tone="warn">Disabled</Chip>}
        </>
      }
      meta={
        <>
          {provider.name}
          {organization && ` · for ${organization.fullName}, not for signing in`} · last used <RelativeTime at={lastUsedAt} /> ·
          linked <RelativeTime at={createdAt} />
        </>
      }
    >
      <div className="mt-3">
        <ConfirmDestructive
          action={unlinkAction}
          trigger="Unlink"
          title={
            <>
              Unlink <bdi>{displayName}</bdi> at {provider.name}?
            </>
          }
          confirm="Unlink the account"
          size="small"
        >
          <input type="hidden" name="identity" value={id} />
          {organization
            ? `If ${organization.fullName} requires sign-in with this account, you lose access until you link it again.`
            : `You can no longer sign in with this account at ${provider.name}.`}
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}

function LinkSection({ offered, linked }: Readonly<{ offered: OfferedProvider[]; linked: ReadonlySet<string> }>) {
  return (
    <SectionCard
      title="Other providers"
      description="Anyone who can sign in to an account that you link can sign in to yours."
      isFlush
    >
      <List label="Providers">
        {offered.map(({ slug, name }) => (
          <ListRow
            key={slug}
            title={<span className="wrap-anywhere min-w-0">{name}</span>}
            trailing={
              <a
                className={buttonClass({ size: "small" })}
                href={providerSignInPath(slug, { intent: "link", next: `${PAGE}?notice=linked` })}
              >
                {linked.has(slug) ? "Link one more" : "Link"}
                <span className="sr-only"> at {name}</span>
              </a>
            }
          />
        ))}
      </List>
    </SectionCard>
  );
}

function PasswordSection({ isRecent }: Readonly<{ isRecent: boolean }>) {
  return (
    <SectionCard
      title="Password"
      description="Your account has no password. With one, you have another way to sign in. Setting it ends all your other sessions."
    >
      {isRecent ? (
        <ActionForm action={setPasswordAction} label="Set a password" className="grid max-w-reading gap-5">
          <NewPasswordField name="newPassword" label="Password" />
          <SubmitButton variant="secondary">Set password</SubmitButton>
        </ActionForm>
      ) : (
        <ProveIdentity returnTo={PAGE}>Confirm your identity to set a password.</ProveIdentity>
      )}
    </SectionCard>
  );
}
