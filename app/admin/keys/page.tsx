import { KeyRound } from "lucide-react";
import type { Metadata } from "next";
import { isRecentlyAuthenticated } from "#core/access/may.ts";
import { type ListedSigningKey, listSigningKeys, PUBLISH_AHEAD_SECONDS, type SigningKeyState } from "#core/oauth/signing-keys.ts";
import { SubmitButton } from "../../_components/action-form.client.tsx";
import { Chip, type ChipProps } from "../../_components/chip.tsx";
import { ConfirmDestructive, FormDetails } from "../../_components/details-form.client.tsx";
import { CancelButton } from "../../_components/disclosure.client.tsx";
import { EmptyState, List, ListRow } from "../../_components/list.tsx";
import { PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { ProveIdentity } from "../../_components/prove-identity.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { noticeOf, type PageQuery } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { rotateAction } from "../actions.ts";

export const metadata: Metadata = { title: "Signing keys · Administration" };

const minutes = PUBLISH_AHEAD_SECONDS / 60;

const notices: Record<string, string> = {
  rotated: `New keys are published. They will be used in ${minutes} minutes, when apps have had time to fetch them.`,
  replaced:
    "New keys are in use. The previous keys are withdrawn: an app refuses ID tokens signed with them once it has fetched the new keys, usually within minutes.",
};

const states: Record<SigningKeyState, { label: string; tone: ChipProps["tone"] }> = {
  next: { label: "Next", tone: "neutral" },
  signing: { label: "In use", tone: "good" },
  retiring: { label: "Retiring", tone: "warn" },
  retired: { label: "Withdrawn", tone: "neutral" },
};

export default async function AdminKeysPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const operator = await requireOperator("/admin/keys");
  const keys = await listSigningKeys(operator);
  return (
    <PageColumn
      title="Signing keys"
      description="These keys sign the ID tokens that apps use to identify users. Apps fetch the public keys automatically."
      notice={noticeOf(notices, query.notice)}
    >
      <SectionCard title="Keys" isFlush>
        {keys.length === 0 ? (
          <EmptyState Icon={KeyRound} title="No keys yet">
            The service creates the first keys when they are first needed.
          </EmptyState>
        ) : (
          <List label="Signing keys">
            {keys.map((key) => (
              <KeyRow key={key.kid} signingKey={key} />
            ))}
          </List>
        )}
      </SectionCard>
      <SectionCard title="Rotation">
        {isRecentlyAuthenticated(operator) ? (
          <Rotate />
        ) : (
          <ProveIdentity returnTo="/admin/keys">Confirm your identity to rotate the keys.</ProveIdentity>
        )}
      </SectionCard>
    </PageColumn>
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
          <code className="block wrap-anywhere">{kid}</code>
          created <RelativeTime at={createdAt} /> · {state === "next" ? "starts signing" : "put into use"}{" "}
          <RelativeTime at={activeAt} />
          {retiredAt && (
            <>
              {` · ${state === "retired" ? "withdrawn" : "will be withdrawn"} `}
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
    <div className="flex flex-wrap items-start gap-2">
      <FormDetails action={rotateAction.bind(null, false)} trigger="Rotate the keys" label="Rotate the keys">
        <p className="text-muted text-small">
          New keys are published immediately and used after {minutes} minutes. The current keys stay published until everything
          they signed has expired. Users are not affected.
        </p>
        <div className="flex flex-wrap gap-2">
          <SubmitButton>Create new signing keys</SubmitButton>
          <CancelButton />
        </div>
      </FormDetails>
      <ConfirmDestructive
        action={rotateAction.bind(null, true)}
        trigger="Withdraw leaked keys"
        title="Withdraw the current keys immediately?"
        confirm="Withdraw the current keys"
      >
        Anyone with a leaked key can sign in to apps as any user until the apps have fetched the new list of keys. New keys are
        used immediately; apps that have not fetched them yet refuse sign-ins for a few minutes.
      </ConfirmDestructive>
    </div>
  );
}
