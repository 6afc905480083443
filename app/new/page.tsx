import { isRepoType, repoTypes } from "@keyhook/sdk";
import type { Metadata } from "next";
import { personActor } from "#core/access/actor.ts";
import { ActionForm } from "../_components/action-form.client.tsx";
import { ButtonLink } from "../_components/button.tsx";
import { Card } from "../_components/card.tsx";
import { ChoiceRow } from "../_components/choice-row.client.tsx";
import { PageBody } from "../_components/page-body.tsx";
import { PageHeader } from "../_components/page-header.tsx";
import { repoTypeLooks } from "../_components/repos/repo-types.ts";
import { Select } from "../_components/select.client.tsx";
import { SiteFrame } from "../_components/site-frame.tsx";
import { SubmitButton } from "../_components/submit-button.client.tsx";
import { ownerChoices } from "../_server/owner-choices.ts";
import { type PageQuery, textOf } from "../_server/page-query.ts";
import { requireSession } from "../_server/session.ts";
import { createRepoAction } from "./actions.ts";
import { NameField } from "./name-field.client.tsx";

export const metadata: Metadata = { title: "New repository" };

const purposes = {
  model: "Weights and code that others load.",
  dataset: "Data to read and to train with.",
  space: "A small app or demo.",
};

const sdks = [
  { value: "static", label: "Static page" },
  { value: "docker", label: "Docker" },
  { value: "node", label: "Node" },
  { value: "python", label: "Python" },
];

/** One form, for all types; the page of what was made says what to do next. */
export default async function NewRepoPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [session, query] = await Promise.all([requireSession("/new"), searchParams]);
  const owners = await ownerChoices(personActor(session), session.user.username);
  const type = textOf(query.type);
  const owner = textOf(query.owner);
  const values = {
    type: isRepoType(type) ? type : "model",
    owner: owners.some(({ value }) => value === owner) ? owner : session.user.username,
    visibility: "public",
  };
  return (
    <SiteFrame>
      <PageBody width="reading">
        <PageHeader title="New repository" description="A place for files and their history, with git." />
        <Card className="px-4 py-5 sm:px-5">
          <ActionForm action={createRepoAction} values={values} label="New repository">
            <fieldset className="group/type grid gap-5">
              <legend className="mb-1.5 font-medium">What is it?</legend>
              <div className="grid gap-2 sm:grid-cols-3">
                {repoTypes.map((one) => (
                  <ChoiceRow
                    key={one}
                    type="radio"
                    name="type"
                    value={one}
                    label={repoTypeLooks[one].word}
                    hint={purposes[one]}
                    isBoxed
                  />
                ))}
              </div>
              <div className="hidden group-has-[[value=space]:checked]/type:block">
                <Select name="sdk" label="Built with" options={sdks} />
              </div>
            </fieldset>
            <div className="grid items-start gap-5 sm:grid-cols-2">
              <Select name="owner" label="Owner" options={owners} />
              <NameField />
            </div>
            <fieldset>
              <legend className="mb-1.5 font-medium">Who can see it?</legend>
              <div className="grid gap-2">
                <ChoiceRow
                  type="radio"
                  name="visibility"
                  value="public"
                  label="Public"
                  hint="Everybody sees it and can clone it."
                  isBoxed
                />
                <ChoiceRow
                  type="radio"
                  name="visibility"
                  value="private"
                  label="Private"
                  hint="Only its owner; of an organization, its members. You can change this later."
                  isBoxed
                />
              </div>
            </fieldset>
            <div className="flex flex-wrap gap-3">
              <SubmitButton>Make repository</SubmitButton>
              <ButtonLink href="/" variant="quiet">
                Cancel
              </ButtonLink>
            </div>
          </ActionForm>
        </Card>
      </PageBody>
    </SiteFrame>
  );
}
