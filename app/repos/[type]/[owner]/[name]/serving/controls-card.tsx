import type { Repo } from "#core/hub/repos/repo.ts";
import type { SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { SLEEP_AFTER_SECONDS } from "#core/spaces/stages.ts";
import { ActionForm } from "../../../../../_components/action-form.client.tsx";
import { ConfirmDestructive } from "../../../../../_components/confirm-destructive.client.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";
import { Select } from "../../../../../_components/select.client.tsx";
import { SubmitButton } from "../../../../../_components/submit-button.client.tsx";
import { repoNameOf } from "../../../../../_server/repo-page.ts";
import { controlSpaceAction, setSleepTimeAction } from "./actions.ts";

const sleepChoices = [
  { value: String(5 * 60), label: "5 minutes" },
  { value: String(60 * 60), label: "1 hour" },
  { value: String(8 * 60 * 60), label: "8 hours" },
  { value: String(SLEEP_AFTER_SECONDS), label: "48 hours" },
];

/** Starting it anew, stopping it, and when it sleeps. */
export function ControlsCard({ repo, runtime }: Readonly<{ repo: Repo; runtime: SpaceRuntime }>) {
  const seconds = String(runtime.sleepSeconds ?? SLEEP_AFTER_SECONDS);
  const choices = sleepChoices.some(({ value }) => value === seconds)
    ? sleepChoices
    : [{ value: seconds, label: `${seconds} seconds` }, ...sleepChoices];
  return (
    <SectionCard
      title="Running"
      description="A push starts it anew by itself. What it has written to its own disk and memory is gone with each start."
    >
      <div className="grid gap-6">
        <div className="flex flex-wrap items-start gap-3">
          <ActionForm action={controlSpaceAction.bind(null, repoNameOf(repo), "restart")} label="Restart" className="grid gap-3">
            <SubmitButton variant="secondary">Restart</SubmitButton>
          </ActionForm>
          {runtime.stage !== "PAUSED" && (
            <ConfirmDestructive
              action={controlSpaceAction.bind(null, repoNameOf(repo), "pause")}
              trigger="Pause"
              title={`Pause ${repo.fullName}?`}
              confirm="Pause it"
            >
              It stops at once, and whoever asks for it is told that it is paused: webhooks that post to it fail, and are tried
              again for two days. It stays so until you restart it.
            </ConfirmDestructive>
          )}
        </div>
        <ActionForm action={setSleepTimeAction.bind(null, repoNameOf(repo))} values={{ seconds }} label="Sleep">
          <div className="flex flex-wrap items-end gap-3">
            <div className="min-w-48">
              <Select name="seconds" label="Sleeps when nobody has asked for it for" options={choices} />
            </div>
            <SubmitButton variant="secondary">Save</SubmitButton>
          </div>
        </ActionForm>
      </div>
    </SectionCard>
  );
}
