import { MailCheck, MailX } from "lucide-react";
import type { Metadata } from "next";
import { type EmailState, type FailingEmail, type MailState, readEmailState, readMailState } from "#core/operations/mail.ts";
import { ActionButton } from "../../_components/action-form.client.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { EmptyState, List, ListRow } from "../../_components/list.tsx";
import { FormMessage, PageColumn, SectionCard } from "../../_components/page-layout.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { noticeOf, type PageQuery, textOf } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { retryAction, sendTestAction } from "../actions.ts";
import { AdminCommand } from "../admin-command.tsx";

export const metadata: Metadata = { title: "Mail · Administration" };

export default async function AdminMailPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const operator = await requireOperator("/admin/mail");
  const testId = textOf(query.test);
  const [state, test] = await Promise.all([readMailState(operator), testId ? readEmailState(operator, testId) : undefined]);
  const waiting = state.failing.filter(({ dueAt }) => dueAt !== null).length;
  return (
    <PageColumn
      title="Mail"
      description="The service sends sign-up links, invitations and security notices by e-mail."
      notice={noticeOf({ retried: "All waiting messages are being retried. Check again in a moment." }, query.notice)}
    >
      <SectionCard
        title="Outgoing server"
        description={
          <>
            Set by <code>SMTP_URL</code> and <code>MAIL_FROM</code> when the service starts.
          </>
        }
      >
        <OutgoingServer state={state} />
      </SectionCard>
      <SectionCard title="Test message" description="Sends a message to your own address, in the same way as all other messages.">
        <div className="grid grid-cols-1 gap-4">
          {test && <TestState test={test} testId={testId} isKept={state.transport === null} />}
          <ActionButton action={sendTestAction} label="Send a test" variant="primary" size="medium">
            Send a test
          </ActionButton>
        </div>
      </SectionCard>
      <SectionCard
        title="Unsent messages"
        description="The latest 50 of the last 30 days. Failed messages cannot be resent, because their text is not stored."
        isFlush
        action={
          waiting > 0 && (
            <ActionButton action={retryAction} label="Try again">
              Retry now
            </ActionButton>
          )
        }
      >
        {state.failing.length === 0 ? (
          <EmptyState Icon={MailCheck} title="No failed messages">
            Messages that the mail server rejects appear here, with the reason.
          </EmptyState>
        ) : (
          <List label="Unsent messages">
            {state.failing.map((message) => (
              <UnsentRow key={message.id} message={message} />
            ))}
          </List>
        )}
      </SectionCard>
    </PageColumn>
  );
}

function OutgoingServer({ state: { transport, from, waiting } }: Readonly<{ state: MailState }>) {
  const facts: [string, string][] = [
    ...(transport
      ? ([
          ["Server", transport.server],
          ["Signs in as", transport.user ?? "nobody"],
          ["Connection", transport.isSecure ? "TLS" : "STARTTLS if the server offers it"],
        ] as [string, string][])
      : []),
    ["From", from],
    ["Waiting", waiting === 1 ? "1 message" : `${waiting.toLocaleString("en")} messages`],
  ];
  return (
    <div className="grid grid-cols-1 gap-4">
      {!transport && (
        <FormMessage tone="warn">
          E-mail is not configured: messages are kept for a week, not sent. Read them with <AdminCommand>mail list</AdminCommand>.
          Set <code>SMTP_URL</code> to send new ones; those that were kept are not sent later.
        </FormMessage>
      )}
      <dl className="grid grid-cols-1 gap-x-5 sm:gap-y-2 sm:grid-cols-[10rem_minmax(0,1fr)]">
        {facts.map(([name, value]) => (
          <div key={name} className="not-last:mb-2 sm:contents">
            <dt className="text-muted">{name}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

type TestStateProps = Readonly<{
  test: EmailState;
  testId: string;
  /** Without a mail server, messages are kept. */
  isKept: boolean;
}>;

function TestState({ test, testId, isKept }: TestStateProps) {
  const { state, recipient, lastError } = test;
  if (state === "sent" && isKept) return <FormMessage tone="warn">The message to {recipient} was kept, not sent.</FormMessage>;
  if (state === "sent") return <FormMessage tone="good">The message to {recipient} was sent.</FormMessage>;
  if (state === "failed") return <FormMessage tone="bad">The message could not be sent: {lastError}</FormMessage>;
  return (
    <FormMessage tone={lastError ? "warn" : "neutral"}>
      {lastError ? `Not sent yet; the service will retry. Reason: ${lastError}` : `The message to ${recipient} is being sent.`}{" "}
      <ButtonLink href={`/admin/mail?test=${testId}`} size="small" className="ml-1">
        Check again
      </ButtonLink>
    </FormMessage>
  );
}

function UnsentRow({ message }: Readonly<{ message: FailingEmail }>) {
  const { recipient, subject, createdAt, attempts, lastError, dueAt } = message;
  return (
    <ListRow
      leading={<MailX className="size-5 text-muted" aria-hidden="true" />}
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{subject}</bdi>
          {dueAt ? <Chip tone="warn">Waiting</Chip> : <Chip tone="bad">Failed</Chip>}
        </>
      }
      meta={
        <>
          to <span className="wrap-anywhere">{recipient}</span> · created <RelativeTime at={createdAt} /> ·{" "}
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
