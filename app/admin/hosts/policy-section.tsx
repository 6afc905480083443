import { type DocumentPolicy, documentPolicies, readDocumentPolicy } from "#core/oauth/documents/hosts/document-policy.ts";
import { ActionForm } from "../../_components/action-form.client.tsx";
import { ChoiceRow } from "../../_components/choice-row.client.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { SectionCard } from "../../_components/section-card.tsx";
import { SubmitButton } from "../../_components/submit-button.client.tsx";
import { setPolicyAction } from "./actions.ts";

const choices: Record<DocumentPolicy, { label: string; hint: string }> = {
  open: { label: "Every host that is not blocked", hint: "People decide for themselves; they see the host before they agree." },
  listed: { label: "Only hosts that are allowed", hint: "An app of any other host is refused before anybody is asked." },
  off: { label: "None", hint: "Only apps that were registered here. The rules below are kept." },
};

export async function PolicySection() {
  const { policy, changedAt } = await readDocumentPolicy();
  return (
    <SectionCard
      title="Whose apps are taken"
      description={
        <>
          An app that is no longer taken is refused at once, and works again when it is taken again.
          {changedAt && (
            <>
              {" "}
              Decided <RelativeTime at={changedAt} />.
            </>
          )}
        </>
      }
    >
      <ActionForm action={setPolicyAction} values={{ policy }} label="Whose apps are taken">
        <fieldset className="grid gap-2">
          <legend className="sr-only">Whose apps are taken</legend>
          {documentPolicies.map((value) => (
            <ChoiceRow key={value} type="radio" name="policy" value={value} isBoxed {...choices[value]} />
          ))}
        </fieldset>
        <div>
          <SubmitButton variant="secondary">Save</SubmitButton>
        </div>
      </ActionForm>
    </SectionCard>
  );
}
