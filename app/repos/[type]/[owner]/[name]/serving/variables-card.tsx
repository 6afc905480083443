import type { Repo } from "#core/hub/repos/repo.ts";
import { listSpaceVariables } from "#core/spaces/variables/list-space-variables.ts";
import { ActionForm } from "../../../../../_components/action-form.client.tsx";
import { Chip } from "../../../../../_components/chip.tsx";
import { ChoiceRow } from "../../../../../_components/choice-row.client.tsx";
import { ConfirmDestructive } from "../../../../../_components/confirm-destructive.client.tsx";
import { Field } from "../../../../../_components/field.client.tsx";
import { List, ListRow } from "../../../../../_components/list.tsx";
import { RelativeTime } from "../../../../../_components/relative-time.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";
import { SubmitButton } from "../../../../../_components/submit-button.client.tsx";
import { TextArea } from "../../../../../_components/text-area.client.tsx";
import { repoNameOf } from "../../../../../_server/repo-page.ts";
import { deleteVariableAction, setVariableAction } from "./actions.ts";

const SHOWN_MAX_CHARACTERS = 80;

/** What is in the environment of the app. */
export async function VariablesCard({ repo }: Readonly<{ repo: Repo }>) {
  const variables = await listSpaceVariables(repo.id);
  return (
    <SectionCard
      title="Variables and secrets"
      description="What the app finds in its environment. A change starts it again. Nobody is shown a secret's value after it is set."
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
                  trigger="Remove"
                  title={`Remove ${name}?`}
                  confirm={`Remove ${name}`}
                  size="small"
                  isQuiet
                >
                  The app starts again without it.
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
              hint="Letters, digits and underscores. A name that is there gets the new value."
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={255}
              isMono
            />
            <TextArea name="value" label="Value" rows={1} autoComplete="off" spellCheck={false} />
          </div>
          <div className="grid gap-2 sm:grid-cols-2">
            <ChoiceRow
              type="radio"
              name="kind"
              value="secret"
              label="Secret"
              hint="Kept sealed, masked in the log."
              defaultChecked
              isBoxed
            />
            <ChoiceRow
              type="radio"
              name="kind"
              value="variable"
              label="Variable"
              hint="Shown to those who manage the Space."
              isBoxed
            />
          </div>
          <div>
            <SubmitButton variant="secondary">Set</SubmitButton>
          </div>
        </ActionForm>
      </div>
    </SectionCard>
  );
}

const shortened = (value: string): string =>
  value.length > SHOWN_MAX_CHARACTERS ? `${value.slice(0, SHOWN_MAX_CHARACTERS)}…` : value;
