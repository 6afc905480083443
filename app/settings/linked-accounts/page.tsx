import { Link2 } from "lucide-react";
import type { Metadata } from "next";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { listOfferedProviders, type OfferedProvider } from "#core/accounts/identity-providers/list-identity-providers.ts";
import { type LinkedIdentity, listLinkedIdentities } from "#core/accounts/identity-providers/list-linked-identities.ts";
import { waysIn } from "#core/accounts/identity-providers/ways-in.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { buttonClass } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { NewPasswordField } from "../../_components/new-account-fields.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { elsewherePath } from "../../_server/elsewhere.ts";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { providerProblem } from "../../_server/provider-problem.ts";
import { requireSession } from "../../_server/session.ts";
import { setPasswordAction, unlinkAction } from "./actions.ts";

export const metadata: Metadata = { title: "Linked accounts" };

const PAGE = "/settings/linked-accounts";

/** What just happened, said once after a redirect. */
const notices = new Map([
  ["linked", "The account is linked."],
  ["unlinked", "The account is unlinked."],
  ["password-set", "You have a password now, and can sign in with it."],
]);

export default async function LinkedAccountsPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const session = await requireSession(PAGE);
  const query = await searchParams;
  const [identities, offered, ways, problem] = await Promise.all([
    listLinkedIdentities(session.userId),
    listOfferedProviders(),
    waysIn(session.userId),
    providerProblem(textOf(query.problem), textOf(query.with)),
  ]);
  const notice = notices.get(textOf(query.notice));
  const isRecent = isRecentlyAuthenticated(session);
  const linked = new Set(identities.map(({ provider }) => provider.slug));
  return (
    <>
      <PageHeader title="Linked accounts" description="Your accounts elsewhere that are known to be yours." />
      <div className="grid grid-cols-1 gap-5">
        {problem && <FormMessage tone="bad">{problem}</FormMessage>}
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <SectionCard title="Accounts that are linked" isFlush>
          {identities.length === 0 ? (
            <EmptyState Icon={Link2} title="None is linked">
              {offered.length > 0
                ? "Link one below to sign in without your password here."
                : "The operator of this service has set up no other place to sign in."}
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
      </div>
    </>
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
          {provider.isDisabled && <Chip tone="warn">not in use</Chip>}
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
            ? `If ${organization.fullName} requires it, what is theirs is closed to you until you link it again.`
            : `You can no longer sign in with ${provider.name}.`}
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}

function LinkSection({ offered, linked }: Readonly<{ offered: OfferedProvider[]; linked: ReadonlySet<string> }>) {
  return (
    <SectionCard
      title="Link another"
      description="Whoever can sign in to the account there can then sign in to yours here."
      isFlush
    >
      <List label="Where an account can be linked">
        {offered.map(({ slug, name }) => (
          <ListRow
            key={slug}
            title={<span className="wrap-anywhere min-w-0">{name}</span>}
            trailing={
              <a
                className={buttonClass({ size: "small" })}
                href={elsewherePath(slug, { intent: "link", next: `${PAGE}?notice=linked` })}
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
      description="Your account has none. With one you get in also when the provider does not let you."
    >
      {isRecent ? (
        <ActionForm action={setPasswordAction} label="Set a password" className="grid max-w-reading gap-5">
          <NewPasswordField name="newPassword" label="Password" />
          <div>
            <SubmitButton variant="secondary">Set password</SubmitButton>
          </div>
        </ActionForm>
      ) : (
        <ProveIdentity returnTo={PAGE}>To set one, confirm that it is you.</ProveIdentity>
      )}
    </SectionCard>
  );
}
