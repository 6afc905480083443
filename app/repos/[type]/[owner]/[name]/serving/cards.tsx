import type { Repo } from "#core/hub/repos/repo.ts";
import type { SpaceRuntime } from "#core/spaces/space-runtime.ts";
import { SLEEP_AFTER_SECONDS } from "#core/spaces/stages.ts";
import { listSpaceVariables } from "#core/spaces/variables.ts";
import { ActionButton, ActionForm, SubmitButton } from "../../../../../_components/action-form.client.tsx";
import { Chip } from "../../../../../_components/chip.tsx";
import { ConfirmDestructive } from "../../../../../_components/details-form.client.tsx";
import { Choices, Field, Select, TextArea } from "../../../../../_components/fields.client.tsx";
import { List, ListRow } from "../../../../../_components/list.tsx";
import { SectionCard } from "../../../../../_components/page-layout.tsx";
import { formatDuration, RelativeTime } from "../../../../../_components/relative-time.tsx";
import { repoNameOf } from "../../../../../_server/repo-page.ts";
import { controlSpaceAction, deleteVariableAction, setSleepTimeAction, setVariableAction } from "./actions.ts";

const sleepChoices = [
  { value: String(5 * 60), label: "5 minutes" },
  { value: String(60 * 60), label: "1 hour" },
  { value: String(8 * 60 * 60), label: "8 hours" },
  { value: String(SLEEP_AFTER_SECONDS), label: "48 hours" },
];

export function ControlsCard({ repo, runtime }: Readonly<{ repo: Repo; runtime: SpaceRuntime }>) {
  const seconds = String(runtime.sleepSeconds ?? SLEEP_AFTER_SECONDS);
  const choices = sleepChoices.some(({ value }) => value === seconds)
    ? sleepChoices
    : [{ value: seconds, label: formatDuration(Number(seconds)) }, ...sleepChoices];
  return (
    <SectionCard
      title="Operation"
      description="Each change to the default branch restarts the app, unless it is paused. Disk and memory are cleared on restart."
    >
      <div className="grid gap-6">
        <div className="flex flex-wrap items-start gap-3">
          <ActionButton action={controlSpaceAction.bind(null, repoNameOf(repo), "restart")} label="Restart" size="medium">
            Restart
          </ActionButton>
          {runtime.stage !== "PAUSED" && (
            <ConfirmDestructive
              action={controlSpaceAction.bind(null, repoNameOf(repo), "pause")}
              trigger="Pause"
              title={`Pause ${repo.fullName}?`}
              confirm="Pause it"
            >
              The app stops immediately, and stays paused until you restart it. Visitors see that it is paused, and deliveries of
              webhooks to it are retried for two days.
            </ConfirmDestructive>
          )}
        </div>
        <ActionForm action={setSleepTimeAction.bind(null, repoNameOf(repo))} values={{ seconds }} label="Sleep">
          <div className="flex flex-wrap items-end gap-3">
            <div className="min-w-48">
              <Select name="seconds" label="Sleep after this time without requests" options={choices} />
            </div>
            <SubmitButton variant="secondary">Save</SubmitButton>
          </div>
        </ActionForm>
      </div>
    </SectionCard>
  );
}

const SHOWN_MAX_CHARACTERS = 80;

export async function VariablesCard({ repo }: Readonly<{ repo: Repo }>) {
  const variables = await listSpaceVariables(repo.id);
  return (
    <SectionCard
      title="Variables and secrets"
      description="Environment variables of the app. A change restarts a running or failed app. Secrets are never shown again."
      isFlush
    >
      {variables.length > 0 && (
        <List label="Variables and secrets" className="border-line border-b">
          {variables.map(({ name, isSecret, value, updatedAt }) => (
            <ListRow
              key={name}
              title={
                <>
                  <code className="break-all">{name}</code>
                  {isSecret && <Chip>Secret</Chip>}
                </>
              }
              meta={
                <>
                  {value !== undefined && <code className="break-all">{shortened(value)} · </code>}
                  set <RelativeTime at={updatedAt} />
                </>
              }
              trailing={
                <ConfirmDestructive
                  action={deleteVariableAction.bind(null, repoNameOf(repo), { name, isSecret })}
                  trigger="Delete"
                  title={`Delete ${name}?`}
                  confirm={`Delete ${name}`}
                  size="small"
                  isQuiet
                >
                  If the app is running or has failed, it restarts without {name}.
                </ConfirmDestructive>
              }
            />
          ))}
        </List>
      )}
      <div className="px-4 py-5 sm:px-5">
        <ActionForm action={setVariableAction.bind(null, repoNameOf(repo))} values={{ kind: "secret" }} label="Set a variable">
          <div className="grid items-start gap-5 sm:grid-cols-2">
            <Field
              name="key"
              label="Name"
              hint="Letters, digits and underscores. An existing name gets the new value."
              maxLength={255}
              isMono
            />
            <TextArea name="value" label="Value" rows={1} autoComplete="off" spellCheck={false} />
          </div>
          <Choices
            legend="Kind"
            isLegendHidden
            name="kind"
            defaultValue="secret"
            className="sm:grid-cols-2"
            options={[
              { value: "secret", label: "Secret", hint: "Stored encrypted and masked in the log." },
              { value: "variable", label: "Variable", hint: "Visible to the Space's maintainers." },
            ]}
          />
          <SubmitButton variant="secondary">Set</SubmitButton>
        </ActionForm>
      </div>
    </SectionCard>
  );
}

const shortened = (value: string): string =>
  value.length > SHOWN_MAX_CHARACTERS ? `${value.slice(0, SHOWN_MAX_CHARACTERS)}…` : value;
