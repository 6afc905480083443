import { countAccessRequests } from "#core/hub/gates/count-access-requests.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { GATE_PROMPT_MAX_CHARACTERS } from "#core/hub/repos/repo-settings.ts";
import { ActionForm } from "../../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../../_components/button.tsx";
import { ChoiceRow } from "../../../../../_components/choice-row.client.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";
import { TextArea } from "../../../../../_components/text-area.client.tsx";
import { repoHref } from "../../../../../_server/repo-page.ts";
import { Save, settingsAction } from "./settings-cards.tsx";

const choices = [
  { value: "none", label: "No gate", hint: "Whoever sees the repository reads its files." },
  {
    value: "auto",
    label: "Let in whoever asks",
    hint: "People read the files once they have shared their username and e-mail address with you. You see who they are, and can shut single ones out.",
  },
  {
    value: "manual",
    label: "Decide on each request",
    hint: "The same, and nobody reads a file before you accept. You get a letter for each request.",
  },
];

/** Who may read the files of what everybody sees. */
export async function GateCard({ repo }: Readonly<{ repo: Repo }>) {
  const { pending } = await countAccessRequests(repo);
  return (
    <SectionCard
      title="Gate"
      description="Shows the repository and its README to everybody, and its files only to those who were let in."
      action={
        repo.gated !== "none" && (
          <ButtonLink size="small" href={repoHref(repo, "settings", "access")}>
            {pending > 0 ? `Requests (${pending})` : "Who has access"}
          </ButtonLink>
        )
      }
    >
      <ActionForm action={settingsAction(repo, "gate")} values={{ gatePrompt: repo.gatePrompt ?? "" }} label="Gate">
        <div className="grid gap-2">
          {choices.map(({ value, label, hint }) => (
            <ChoiceRow
              key={value}
              type="radio"
              name="gated"
              value={value}
              label={label}
              hint={hint}
              defaultChecked={repo.gated === value}
              isBoxed
            />
          ))}
        </div>
        <TextArea
          name="gatePrompt"
          label="What people read before they ask"
          hint="Conditions, a licence, whom to write to. Markdown."
          maxLength={GATE_PROMPT_MAX_CHARACTERS}
          isOptional
        />
        <Save />
      </ActionForm>
    </SectionCard>
  );
}
