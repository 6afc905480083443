import { MonitorSmartphone } from "lucide-react";
import type { ListedSiteSession } from "#core/accounts/sessions/list-site-sessions.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { Chip } from "../../_components/chip.tsx";
import { List, ListRow } from "../../_components/list.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { endOtherSessionsAction, endSessionAction } from "./actions.ts";

export type SessionsSectionProps = Readonly<{
  sessions: readonly ListedSiteSession[];
  /** The one that is looking. */
  currentId: string;
}>;

/** Where one is signed in, the present session first. */
export function SessionsSection({ sessions, currentId }: SessionsSectionProps) {
  const current = sessions.filter(({ id }) => id === currentId);
  const others = sessions.filter(({ id }) => id !== currentId);
  return (
    <div id="sessions" className="scroll-mt-4">
      <SectionCard
        title="Sessions"
        description="The browsers in which you are signed in. End what you do not know, then change your password."
        isFlush
        action={
          others.length > 0 && (
            <ActionForm action={endOtherSessionsAction} className="grid gap-2">
              <SubmitButton variant="danger" size="small">
                End all others
              </SubmitButton>
            </ActionForm>
          )
        }
      >
        <List>
          {[...current, ...others].map((session) => (
            <ListRow
              key={session.id}
              leading={<MonitorSmartphone className="size-5 text-muted" aria-hidden="true" />}
              title={
                <>
                  {session.device}
                  {session.id === currentId && <Chip tone="good">This session</Chip>}
                </>
              }
              meta={
                <>
                  {session.ip ?? "Unknown address"} · seen <RelativeTime at={session.lastSeenAt} /> · since{" "}
                  <RelativeTime at={session.createdAt} />
                </>
              }
              trailing={session.id !== currentId && <EndSession session={session} />}
            />
          ))}
        </List>
      </SectionCard>
    </div>
  );
}

function EndSession({ session }: Readonly<{ session: ListedSiteSession }>) {
  return (
    <ActionForm action={endSessionAction} className="grid gap-2">
      <input type="hidden" name="sessionId" value={session.id} />
      <SubmitButton variant="danger" size="small">
        End<span className="sr-only"> the session of {session.device}</span>
      </SubmitButton>
    </ActionForm>
  );
}
