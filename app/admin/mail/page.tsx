import { MailCheck, MailX } from "lucide-react";
import type { Metadata } from "next";
import {
  type LetterState,
  type MailState,
  readLetterState,
  readMailState,
  type TroubledLetter,
} from "#core/operations/mail/read-mail-state.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { EmptyState } from "../../_components/empty-state.tsx";
import { FormMessage } from "../../_components/form-message.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { requireOperator } from "../../_server/operator-page.ts";
import { type PageQuery, textOf } from "../../_server/page-query.ts";
import { retryAction, sendTestAction } from "./actions.ts";

export const metadata: Metadata = { title: "Mail · Administration" };

/** How mail leaves the house, whether it does, and what did not. */
export default async function AdminMailPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const operator = await requireOperator("/admin/mail");
  const testId = textOf(query.test);
  const [state, test] = await Promise.all([readMailState(operator), testId ? readLetterState(operator, testId) : undefined]);
  const waiting = state.troubled.filter(({ dueAt }) => dueAt !== null).length;
  return (
    <>
      <PageHeader title="Mail" description="Sign-up links, invitations and security notices go out by mail." />
      <div className="grid grid-cols-1 gap-5">
        {textOf(query.notice) === "retried" && (
          <FormMessage tone="good">All letters that wait are tried now. Look again in a moment.</FormMessage>
        )}
        <SectionCard title="The way out" description="Set by SMTP_URL and MAIL_FROM, when the service starts.">
          <Way state={state} />
        </SectionCard>
        <SectionCard title="Send a test" description="A letter to your own address, by the way that all others take.">
          <div className="grid grid-cols-1 gap-4">
            {test && <TestState test={test} testId={testId} />}
            <ActionForm action={sendTestAction} label="Send a test" className="grid gap-2">
              <div>
                <SubmitButton>Send me a test</SubmitButton>
              </div>
            </ActionForm>
          </div>
        </SectionCard>
        <SectionCard
          title="What did not go out"
          description="The latest 50 of the last 30 days. What was given up stays so, since its text is not kept."
          isFlush
          action={
            waiting > 0 && (
              <ActionForm action={retryAction} label="Try again" className="grid gap-2">
                <SubmitButton variant="secondary" size="small">
                  Try them now
                </SubmitButton>
              </ActionForm>
            )
          }
        >
          {state.troubled.length === 0 ? (
            <EmptyState Icon={MailCheck} title="Every letter went out">
              Letters that the mail server does not take stand here, with its reason.
            </EmptyState>
          ) : (
            <List label="Letters that did not go out">
              {state.troubled.map((letter) => (
                <Troubled key={letter.id} letter={letter} />
              ))}
            </List>
          )}
        </SectionCard>
      </div>
    </>
  );
}

function Way({ state: { way, from, waiting } }: Readonly<{ state: MailState }>) {
  const facts: [string, string][] = [
    ...("outbox" in way
      ? ([["Outbox", way.outbox]] as [string, string][])
      : ([
          ["Server", way.server],
          ["Signs in as", way.user ?? "nobody"],
          ["Connection", way.isSecure ? "TLS" : "STARTTLS where the server offers it"],
        ] as [string, string][])),
    ["From", from],
    ["Waiting", waiting === 1 ? "1 letter" : `${waiting.toLocaleString("en")} letters`],
  ];
  return (
    <div className="grid grid-cols-1 gap-4">
      {"outbox" in way && (
        <FormMessage tone="warn">
          SMTP_URL is not set. Letters become files in the outbox, and people do not get them.
        </FormMessage>
      )}
      <dl className="grid grid-cols-1 gap-x-5 gap-y-2 sm:grid-cols-[10rem_minmax(0,1fr)]">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function TestState({ test, testId }: Readonly<{ test: LetterState; testId: string }>) {
  const { state, recipient, lastError } = test;
  if (state === "sent") return <FormMessage tone="good">The letter to {recipient} went out.</FormMessage>;
  if (state === "failed") return <FormMessage tone="bad">The letter was given up: {lastError}</FormMessage>;
  return (
    <FormMessage tone={lastError ? "warn" : "neutral"}>
      {lastError ? `It did not go out yet: ${lastError} It is tried again.` : `The letter to ${recipient} is on its way.`}{" "}
      <ButtonLink href={`/admin/mail?test=${testId}`} size="small" className="ml-1">
        Look again
      </ButtonLink>
    </FormMessage>
  );
}

function Troubled({ letter }: Readonly<{ letter: TroubledLetter }>) {
  const { recipient, subject, createdAt, attempts, lastError, dueAt } = letter;
  return (
    <ListRow
      leading={<MailX className="size-5 text-muted" aria-hidden="true" />}
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{subject}</bdi>
          {dueAt ? <Chip tone="warn">Waits</Chip> : <Chip tone="bad">Given up</Chip>}
        </>
      }
      meta={
        <>
          to <span className="wrap-anywhere">{recipient}</span> · written <RelativeTime at={createdAt} /> ·{" "}
          {attempts === 1 ? "1 attempt" : `${attempts} attempts`}
          {dueAt && (
            <>
              {" · next "}
              <RelativeTime at={dueAt} />
            </>
          )}
          {lastError && <span className="wrap-anywhere block text-ink">{lastError}</span>}
        </>
      }
    />
  );
}
