import type { Repo } from "#core/hub/repos/repo.ts";
import { DESCRIPTION_MAX_CHARACTERS } from "#core/hub/repos/repo-settings.ts";
import { ActionForm, SubmitButton } from "../../../../../_components/action-form.client.tsx";
import { ChoiceRow, Choices, Field, Select, TextArea } from "../../../../../_components/fields.client.tsx";
import { SectionCard } from "../../../../../_components/page-layout.tsx";
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
        className="grid max-w-reading gap-5"
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
            hint="static for files, or node for a program; other SDKs do not run here. The README's front matter takes precedence."
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
    <SectionCard title="Visibility" description="Who can find this repository and see its content.">
      <ActionForm action={settingsAction(repo, "visibility")} className="grid max-w-reading gap-5" label="Visibility">
        <Choices
          legend="Visibility"
          isLegendHidden
          name="private"
          defaultValue={String(repo.isPrivate)}
          options={[
            {
              value: "false",
              label: "Public",
              hint: "Everyone can see it and, unless it is gated, clone it. While discussions are on, signed-in users can open them. Public content may be copied.",
            },
            {
              value: "true",
              label: "Private",
              hint: `Only ${members} and apps with access. To everyone else, it appears not to exist: their links to it stop working, and their collections and webhooks no longer include it.`,
            },
          ]}
        />
        <Save />
      </ActionForm>
    </SectionCard>
  );
}

export function BranchCard({ repo, branches }: Props & Readonly<{ branches: readonly string[] | undefined }>) {
  return (
    <SectionCard
      title="Default branch"
      description="The branch that a clone checks out, and that the README, tags and size come from."
    >
      <ActionForm
        action={settingsAction(repo, "branch")}
        values={{ defaultBranch: repo.defaultBranch }}
        className="grid max-w-reading gap-5"
        label="Default branch"
      >
        {branches && branches.length > 0 ? (
          <Select name="defaultBranch" label="Branch" options={branches.map((name) => ({ value: name, label: name }))} />
        ) : (
          <Field
            name="defaultBranch"
            label="Branch"
            hint={
              branches === undefined
                ? "Listing the branches took too long. Type a name, or reload the page."
                : repo.headSha === null
                  ? "There are no commits yet. The first push creates the branch."
                  : "The name of an existing branch."
            }
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
      <ActionForm action={settingsAction(repo, "protection")} className="grid max-w-reading gap-5" label="Protection">
        <div className="-my-2">
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
            hint="Refuses every push, commit and merge. Reading and discussions still work."
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
      <ActionForm
        action={settingsAction(repo, "discussions")}
        className="grid max-w-reading gap-5"
        label="Discussions and pull requests"
      >
        <div className="-my-2">
          <ChoiceRow
            type="checkbox"
            name="discussions"
            label="Allow discussions and pull requests"
            hint="When off, nobody can open new ones, and the tab is hidden. Existing ones can still be read, commented on and merged."
            defaultChecked={repo.hasDiscussions}
          />
        </div>
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
