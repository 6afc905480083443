import type { WebhookReplay } from "#core/webhooks/replay/webhook-replay.ts";
import type { OwnerName } from "../../../_server/paths.ts";
import { cancelReplayAction } from "../../../_server/webhooks/actions.ts";
import { ActionButton } from "../../action-form.client.tsx";
import { Chip } from "../../chip.tsx";
import { Card } from "../../page-layout.tsx";
import { RelativeTime } from "../../relative-time.tsx";
import { percent } from "../webhook-list.tsx";

type ReplayProgressProps = Readonly<{
  replays: readonly WebhookReplay[];
  home: OwnerName;
  isManager: boolean;
  now: Date;
}>;

const SHOWN_MS = 10 * 60_000;

export function shownReplays(replays: readonly WebhookReplay[], now: Date): WebhookReplay[] {
  return replays.filter(
    ({ state, finishedAt }) => state === "running" || (finishedAt !== null && now.getTime() - finishedAt.getTime() < SHOWN_MS),
  );
}

export function ReplayProgress({ replays, home, isManager, now }: ReplayProgressProps) {
  return (
    <Card>
      <ul aria-label="Replays" className="divide-y divide-line">
        {replays.map((replay) => (
          <li key={replay.id} className="flex flex-wrap items-center gap-x-5 gap-y-2 px-4 py-3 sm:px-5">
            <div className="min-w-0 flex-1 basis-64">
              <p className="flex flex-wrap items-center gap-2 text-small">
                <Chip tone={replay.state === "finished" ? "good" : replay.state === "running" ? "neutral" : "warn"}>
                  {replay.state}
                </Chip>
                <span>
                  <b>
                    Replay of {replay.total.toLocaleString("en")} {replay.total === 1 ? "delivery" : "deliveries"}
                  </b>{" "}
                  <span className="text-muted">
                    that {replay.of === "failed" ? "failed" : replay.total === 1 ? "was selected" : "were selected"} · started{" "}
                    <RelativeTime at={replay.createdAt} now={now} />
                  </span>
                </span>
              </p>
              <Bar replay={replay} />
              <p className="mt-1.5 text-fine text-muted tabular-nums">
                {replay.delivered.toLocaleString("en")} delivered, {replay.failed.toLocaleString("en")} failed,{" "}
                {Math.max(0, replay.total - replay.delivered - replay.failed).toLocaleString("en")}{" "}
                {replay.state === "running" ? "remaining" : "not sent"}
              </p>
            </div>
            {isManager && replay.state === "running" && (
              <ActionButton action={cancelReplayAction.bind(null, home, replay.webhookId, replay.id)} label="Cancel replay">
                Cancel
              </ActionButton>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Bar({ replay: { total, delivered, failed } }: Readonly<{ replay: WebhookReplay }>) {
  const whole = Math.max(1, total);
  return (
    <div
      role="progressbar"
      aria-label="Replayed"
      aria-valuemin={0}
      aria-valuemax={whole}
      aria-valuenow={Math.min(whole, delivered + failed)}
      className="mt-2 flex h-1.5 overflow-hidden rounded-full bg-sunken"
    >
      <span className="bg-good motion-safe:transition-all" style={{ width: percent(delivered / whole) }} />
      <span className="bg-bad motion-safe:transition-all" style={{ width: percent(failed / whole) }} />
    </div>
  );
}
