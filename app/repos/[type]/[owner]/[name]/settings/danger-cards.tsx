import type { Repo } from "#core/hub/repos/repo.ts";
import { ActionForm } from "../../../../../_components/action-form.client.tsx";
import { ConfirmDestructive } from "../../../../../_components/confirm-destructive.client.tsx";
import { Field } from "../../../../../_components/field.client.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";
import { Select } from "../../../../../_components/select.client.tsx";
import { SubmitButton } from "../../../../../_components/submit-button.client.tsx";
import type { OwnerChoice } from "../../../../../_server/owner-choices.ts";
import { repoNameOf } from "../../../../../_server/repo-page.ts";
import { deleteRepoAction, moveRepoAction } from "./actions.ts";

/** Another name, another owner, or both. */
export function MoveCard({ repo, owners }: Readonly<{ repo: Repo; owners: readonly OwnerChoice[] }>) {
  const { handle } = repo.owner;
  const choices = owners.some(({ value }) => value === handle) ? owners : [{ value: handle, label: handle }, ...owners];
  return (
    <SectionCard
      title="Name and owner"
      description="Its address changes. Links and clones that use the earlier one are led to the new one, until somebody takes that name anew. A new owner decides from then on: you keep only the rights that you have there, and its trusted publishers end."
    >
      <ActionForm
        action={moveRepoAction.bind(null, repoNameOf(repo))}
        values={{ owner: handle, name: repo.name }}
        label="Name and owner"
      >
        <div className="grid items-start gap-5 sm:grid-cols-2">
          <Select name="owner" label="Owner" options={choices} />
          <Field name="name" label="Name" autoComplete="off" autoCapitalize="none" spellCheck={false} maxLength={96} isMono />
        </div>
        <div>
          <SubmitButton variant="secondary">Rename or move</SubmitButton>
        </div>
      </ActionForm>
    </SectionCard>
  );
}

export function DeleteCard({ repo }: Readonly<{ repo: Repo }>) {
  return (
    <SectionCard title="Delete" description="Nothing of it can be brought back." isDanger>
      <ConfirmDestructive
        action={deleteRepoAction.bind(null, repoNameOf(repo))}
        trigger="Delete this repository"
        title={`Delete ${repo.fullName}?`}
        confirm="Delete it for good"
        phrase={repo.fullName}
      >
        All files, commits and large files, all discussions and pull requests are deleted at once, and it leaves every collection.
        Clones that people have stay with them.
      </ConfirmDestructive>
    </SectionCard>
  );
}
