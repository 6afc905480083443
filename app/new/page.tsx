import { isRepoType, repoTypes } from "@keyhook/sdk";
import type { Metadata } from "next";
import { personActor } from "#core/access/actor.ts";
import { findPrivateByDefault } from "#core/accounts/organizations/default-visibility.ts";
import { doSpacesRun, readRunnerReport } from "#core/jobs/runners/runner-report.ts";
import { ActionForm } from "../_components/action-form.client.tsx";
import { ChoiceRow, Choices, Select } from "../_components/fields.client.tsx";
import { FormButtons } from "../_components/form-buttons.tsx";
import { Card, PageHeader } from "../_components/page-layout.tsx";
import { repoTypeLooks } from "../_components/repos/repo-types.ts";
import { SiteFrame } from "../_components/site-frame.tsx";
import { ownerChoices } from "../_server/owner-page.ts";
import { type PageQuery, textOf } from "../_server/page-query.ts";
import { requireSession } from "../_server/session.ts";
import { createRepoAction } from "./actions.ts";
import { NameField } from "./name-field.client.tsx";

export const metadata: Metadata = { title: "New repository" };

const purposes = {
  model: "Weights and code for others to use.",
  dataset: "Data for training and evaluation.",
  space: "A small app or demo.",
};

const sdksOf = (isNodeRun: boolean) => [
  { value: "static", label: "Static page" },
  { value: "node", label: isNodeRun ? "Node" : "Node (does not run here)" },
  { value: "docker", label: "Docker (does not run here)" },
  { value: "python", label: "Python (does not run here)" },
];

const list = new Intl.ListFormat("en");

export default async function NewRepoPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [session, query, runner] = await Promise.all([requireSession("/new"), searchParams, readRunnerReport()]);
  const owners = await ownerChoices(personActor(session), session.user.username);
  const privateOwners = await findPrivateByDefault(owners.map(({ value }) => value));
  const type = textOf(query.type);
  const owner = textOf(query.owner);
  const values = {
    type: isRepoType(type) ? type : "model",
    owner: owners.some(({ value }) => value === owner) ? owner : session.user.username,
    visibility: privateOwners.length > 0 ? "default" : "public",
  };
  return (
    <SiteFrame width="reading">
      <PageHeader title="New repository" description="A git repository for your files." />
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
              <Select name="sdk" label="Built with" options={sdksOf(doSpacesRun(runner))} />
            </div>
          </fieldset>
          <div className="grid items-start gap-5 sm:grid-cols-2">
            <Select name="owner" label="Owner" options={owners} />
            <NameField />
          </div>
          <Choices
            legend="Who can see it?"
            name="visibility"
            options={[
              ...(privateOwners.length > 0
                ? [
                    {
                      value: "default",
                      label: "Owner's default",
                      hint: `Private in ${list.format(privateOwners)}, public otherwise.`,
                    },
                  ]
                : []),
              { value: "public", label: "Public", hint: "Everyone can see and clone it." },
              {
                value: "private",
                label: "Private",
                hint: "Visible to you, or to your organization's members. You can change this later.",
              },
            ]}
          />
          <ChoiceRow
            type="checkbox"
            name="empty"
            value="1"
            label="Create an empty repository"
            hint="For pushing an existing repository. Otherwise, the first commit sets up Git LFS for large files."
          />
          <FormButtons cancelHref="/">Create repository</FormButtons>
        </ActionForm>
      </Card>
    </SiteFrame>
  );
}
