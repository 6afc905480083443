import { ButtonLink } from "../../../../../_components/button.tsx";
import { ChoiceRow } from "../../../../../_components/choice-row.client.tsx";
import { Field } from "../../../../../_components/field.client.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";
import { SubmitButton } from "../../../../../_components/submit-button.client.tsx";
import { TextArea } from "../../../../../_components/text-area.client.tsx";
import type { EditingPage } from "./editing-page.ts";
import { SeenCommit } from "./newer-version.client.tsx";

type Props = Readonly<{
  page: EditingPage;
  /** What the message says when it is left empty. */
  summary: string;
  cancelHref: string;
  isDanger?: boolean;
  submit?: string;
}>;

/** How a change of files is committed: its message, onto the branch or as a proposal. */
export function CommitFields({ page: { branch, mayWrite, mayPropose, head }, summary, cancelHref, isDanger, submit }: Props) {
  // A branch without a commit has nothing to propose a change of.
  const choices = mayWrite && mayPropose && head !== null;
  return (
    <SectionCard title="Commit">
      <div className="grid max-w-reading gap-5">
        <SeenCommit />
        <Field name="summary" label="Summary" placeholder={summary} isOptional autoComplete="off" maxLength={200} />
        <TextArea name="description" label="Description" isOptional maxLength={10_000} />
        {choices ? (
          <fieldset>
            <legend className="font-medium">Where to</legend>
            <ChoiceRow type="radio" name="target" value="branch" defaultChecked label={<>Commit to the branch “{branch}”</>} />
            <ChoiceRow
              type="radio"
              name="target"
              value="pull-request"
              label="Open a pull request"
              hint="The branch stays as it is until somebody merges it."
            />
          </fieldset>
        ) : (
          <>
            <input type="hidden" name="target" value={mayWrite ? "branch" : "pull-request"} />
            <p className="text-muted text-small">
              {mayWrite
                ? `The commit goes to the branch “${branch}”.`
                : "You may not write to this repository: your change is proposed as a pull request, and its owners decide."}
            </p>
          </>
        )}
        <div className="flex flex-wrap gap-3">
          <SubmitButton variant={isDanger ? "destroy" : "primary"}>{submit ?? (mayWrite ? "Commit" : "Propose")}</SubmitButton>
          <ButtonLink href={cancelHref}>Cancel</ButtonLink>
        </div>
      </div>
    </SectionCard>
  );
}
