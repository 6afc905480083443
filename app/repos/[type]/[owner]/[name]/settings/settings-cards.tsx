import type { Repo } from "#core/hub/repos/repo.ts";
import { DESCRIPTION_MAX_CHARACTERS } from "#core/hub/repos/repo-settings.ts";
import { ActionForm } from "../../../../../_components/action-form.client.tsx";
import { ChoiceRow } from "../../../../../_components/choice-row.client.tsx";
import { Field } from "../../../../../_components/field.client.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";
import { Select } from "../../../../../_components/select.client.tsx";
import { SubmitButton } from "../../../../../_components/submit-button.client.tsx";
import { TextArea } from "../../../../../_components/text-area.client.tsx";
import { repoNameOf } from "../../../../../_server/repo-page.ts";
import { type SettingsCard, updateRepoAction } from "./actions.ts";

type Props = Readonly<{ repo: Repo }>;

export const settingsAction = (repo: Repo, card: SettingsCard) => updateRepoAction.bind(null, repoNameOf(repo), card);

export function AboutCard({ repo }: Props) {
  return (
    <SectionCard title="About">
      <ActionForm
        action={settingsAction(repo, "about")}
        values={{ description: repo.description ?? "", sdk: repo.sdk ?? "" }}
        label="About"
      >
        <TextArea
          name="description"
          label="Description"
          hint="One or two sentences, shown in lists and at the top of each page."
          maxLength={DESCRIPTION_MAX_CHARACTERS}
          isOptional
        />
        {repo.type === "space" && (
          <Field
            name="sdk"
            label="SDK"
            hint="What the Space is built with: static, docker, gradio … The README's front matter goes before it."
            autoComplete="off"
            isOptional
          />
        )}
        <Save />
      </ActionForm>
    </SectionCard>
  );
}

export function VisibilityCard({ repo }: Props) {
  const members = repo.owner.kind === "organization" ? `the members of ${repo.owner.handle}` : "you";
  return (
    <SectionCard title="Visibility" description="Who can find this repository and see what is in it.">
      <ActionForm action={settingsAction(repo, "visibility")} label="Visibility">
        <div className="grid gap-2">
          <ChoiceRow
            type="radio"
            name="private"
            value="false"
            label="Public"
            hint="Everybody sees it, clones it and may open discussions. What was public once may have been copied."
            defaultChecked={!repo.isPrivate}
            isBoxed
          />
          <ChoiceRow
            type="radio"
            name="private"
            value="true"
            label="Private"
            hint={`Only ${members} and the apps that were let in. For everybody else it is as if it did not exist: links, collections and webhooks of others no longer lead to it.`}
            defaultChecked={repo.isPrivate}
            isBoxed
          />
        </div>
        <Save />
      </ActionForm>
    </SectionCard>
  );
}

export function BranchCard({ repo, branches }: Props & Readonly<{ branches: readonly string[] | undefined }>) {
  return (
    <SectionCard
      title="Default branch"
      description="What a clone checks out, and where the README, the tags and the size are taken from."
    >
      <ActionForm action={settingsAction(repo, "branch")} values={{ defaultBranch: repo.defaultBranch }} label="Default branch">
        {branches && branches.length > 0 ? (
          <Select name="defaultBranch" label="Branch" options={branches.map((name) => ({ value: name, label: name }))} />
        ) : (
          <Field
            name="defaultBranch"
            label="Branch"
            hint={
              branches === undefined
                ? "Listing the branches takes too long right now. Type the name of one, or reload the page."
                : repo.headSha === null
                  ? "There are no commits yet. The first push creates the branch."
                  : "The name of an existing branch."
            }
            autoComplete="off"
            isMono
          />
        )}
        <Save />
      </ActionForm>
    </SectionCard>
  );
}

export function ProtectionCard({ repo }: Props) {
  return (
    <SectionCard title="Protection">
      <ActionForm action={settingsAction(repo, "protection")} label="Protection">
        <div>
          <ChoiceRow
            type="checkbox"
            name="defaultBranchProtected"
            label={`Protect ${repo.defaultBranch}`}
            hint="Nobody can delete the default branch or rewrite its history (git push --force)."
            defaultChecked={repo.isDefaultBranchProtected}
          />
          <ChoiceRow
            type="checkbox"
            name="readOnly"
            label="Read-only"
            hint="Every push, commit and merge is refused until you untick this. Reading and discussions go on."
            defaultChecked={repo.isReadOnly}
          />
        </div>
        <Save />
      </ActionForm>
    </SectionCard>
  );
}

export function DiscussionsCard({ repo }: Props) {
  return (
    <SectionCard title="Discussions and pull requests">
      <ActionForm action={settingsAction(repo, "discussions")} label="Discussions and pull requests">
        <ChoiceRow
          type="checkbox"
          name="discussions"
          label="People may open discussions and pull requests"
          hint="Unticked, those that there are disappear from view. They are kept, and come back when you tick it again."
          defaultChecked={repo.hasDiscussions}
        />
        <Save />
      </ActionForm>
    </SectionCard>
  );
}

export function Save() {
  return (
    <div>
      <SubmitButton variant="secondary">Save</SubmitButton>
    </div>
  );
}
