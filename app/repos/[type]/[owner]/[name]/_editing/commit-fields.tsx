import { SubmitButton } from "../../../../../_components/action-form.client.tsx";
import { ButtonLink } from "../../../../../_components/button.tsx";
import { ChoiceRow, Field, TextArea } from "../../../../../_components/fields.client.tsx";
import { PREVIEW } from "../../../../../_components/form-state.ts";
import { SectionCard } from "../../../../../_components/page-layout.tsx";
import { ContentField } from "./content-field.client.tsx";
import type { EditingPage } from "./editing-page.ts";
import { SeenCommit } from "./newer-version.client.tsx";

type Props = Readonly<{
  page: EditingPage;
  summary: string;
  cancelHref: string;
  isDanger?: boolean;
  submit?: string;
  hasPreview?: boolean;
}>;

export function CommitFields({
  page: { branch, mayWrite, mayPropose, head },
  summary,
  cancelHref,
  isDanger,
  submit,
  hasPreview,
}: Props) {
  // No pull request can be opened into a branch without a commit.
  const hasChoice = mayWrite && mayPropose && head !== null;
  return (
    <SectionCard title="Commit">
      <div className="grid max-w-reading gap-5">
        <SeenCommit />
        <Field name="summary" label="Summary" placeholder={summary} isOptional autoComplete="off" maxLength={200} />
        <TextArea name="description" label="Description" isOptional maxLength={10_000} />
        {hasChoice ? (
          <fieldset>
            <legend className="font-medium">Destination</legend>
            <ChoiceRow type="radio" name="target" value="branch" defaultChecked label={<>Commit to the branch “{branch}”</>} />
            <ChoiceRow
              type="radio"
              name="target"
              value="pull-request"
              label="Open a pull request"
              hint="The branch does not change until someone merges it."
            />
          </fieldset>
        ) : (
          <>
            <input type="hidden" name="target" value={mayWrite ? "branch" : "pull-request"} />
            <p className="text-muted text-small">
              {mayWrite
                ? `The commit goes to the branch “${branch}”.`
                : "You cannot write to this repository. Your change becomes a pull request, which its maintainers can merge."}
            </p>
          </>
        )}
        <div className="flex flex-wrap gap-3">
          <SubmitButton variant={isDanger ? "destroy" : "primary"}>{submit ?? (mayWrite ? "Commit" : "Propose")}</SubmitButton>
          {hasPreview && (
            <SubmitButton name="intent" value={PREVIEW} variant="secondary">
              Preview
            </SubmitButton>
          )}
          <ButtonLink href={cancelHref}>Cancel</ButtonLink>
        </div>
      </div>
    </SectionCard>
  );
}

export function FileFields({ hint }: Readonly<{ hint: string }>) {
  return (
    <div className="grid gap-5">
      <div className="max-w-reading">
        <Field name="path" label="Name" hint={hint} isMono />
      </div>
      <ContentField />
    </div>
  );
}
