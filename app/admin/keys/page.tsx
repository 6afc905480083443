import { KeyRound } from "lucide-react";
import type { Metadata } from "next";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { PUBLISH_AHEAD_SECONDS } from "#core/oauth/keys.ts";
import { type ListedSigningKey, listSigningKeys, type SigningKeyState } from "#core/oauth/signing-keys.ts";
import { Chip, type ChipProps } from "../../_components/chip.tsx";
import { ConfirmDestructive } from "../../_components/confirm-destructive.client.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { rotateAction } from "./actions.ts";

export const metadata: Metadata = { title: "Signing keys · Administration" };

const minutes = PUBLISH_AHEAD_SECONDS / 60;

/** What just happened, said once after a redirect. */
const notices: Record<string, string> = {
  rotated: `New keys are published. They sign in ${minutes} minutes, when every app has fetched them.`,
  replaced: "New keys sign from now on. The ones before are withdrawn: what they signed is not believed any more.",
};

const states: Record<SigningKeyState, { label: string; tone: ChipProps["tone"] }> = {
  next: { label: "Next", tone: "neutral" },
  signing: { label: "Signs", tone: "good" },
  retiring: { label: "On its way out", tone: "warn" },
  retired: { label: "Withdrawn", tone: "neutral" },
};

/** The keys by which apps know that an ID token is ours. */
export default async function AdminKeysPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const operator = await requireOperator("/admin/keys");
  const keys = await listSigningKeys(operator);
  const notice = noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader
        title="Signing keys"
        description="They sign the ID tokens by which apps know who signed in. Apps fetch their public parts by themselves."
      />
      <div className="grid grid-cols-1 gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <SectionCard title="Keys" isFlush>
          {keys.length === 0 ? (
            <EmptyState Icon={KeyRound} title="None yet">
              The service makes the first pair when somebody first asks for them.
            </EmptyState>
          ) : (
            <List label="Signing keys">
              {keys.map((key) => (
                <KeyRow key={key.kid} signingKey={key} />
              ))}
            </List>
          )}
        </SectionCard>
        <SectionCard title="Rotate">
          {isRecentlyAuthenticated(operator) ? (
            <Rotate />
          ) : (
            <ProveIdentity returnTo="/admin/keys">To rotate the keys, confirm that it is you.</ProveIdentity>
          )}
        </SectionCard>
      </div>
    </>
  );
}

function KeyRow({ signingKey }: Readonly<{ signingKey: ListedSigningKey }>) {
  const { kid, alg, activeAt, retiredAt, createdAt, state } = signingKey;
  const { label, tone } = states[state];
  return (
    <ListRow
      leading={<KeyRound className="size-5 text-muted" aria-hidden="true" />}
      title={
        <>
          {alg}
          <Chip tone={tone}>{label}</Chip>
        </>
      }
      meta={
        <>
          <code className="block break-all">{kid}</code>
          made <RelativeTime at={createdAt} /> · {state === "next" ? "signs" : "signed from"} <RelativeTime at={activeAt} />
          {retiredAt && (
            <>
              {` · ${state === "retired" ? "withdrawn" : "goes"} `}
              <RelativeTime at={retiredAt} />
            </>
          )}
        </>
      }
    />
  );
}

function Rotate() {
  return (
    <div className="grid grid-cols-1 gap-5">
      <ConfirmDestructive
        action={rotateAction.bind(null, false)}
        trigger="Rotate the keys"
        title="Make new signing keys?"
        confirm="Make new signing keys"
      >
        They are published at once and sign from {minutes} minutes on. The present ones stay published until all that they signed
        has expired. Nobody notices.
      </ConfirmDestructive>
      <ConfirmDestructive
        action={rotateAction.bind(null, true)}
        trigger="A key has leaked"
        title="Withdraw the present keys at once?"
        confirm="Withdraw the present keys"
      >
        Whoever has a leaked key can sign in as anybody for as long as it is published. New keys sign at once; apps that have not
        fetched them yet refuse sign-ins for some minutes.
      </ConfirmDestructive>
    </div>
  );
}
