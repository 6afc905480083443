"use server";

import { redirect } from "next/navigation";
import { isPresetName, presets } from "#core/accounts/publishers/presets.ts";
import { addPublisher } from "#core/hub/publishers/add-publisher.ts";
import type { NewPublisher } from "#core/hub/publishers/parse-publisher.ts";
import { removePublisher } from "#core/hub/publishers/remove-publisher.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../form.ts";
import { submittedRepoName } from "../repo-page.ts";
import { requestOrigin } from "../request-origin.ts";
import { requirePerson } from "../session.ts";
import type { SubmittedForm } from "../submitted-form.ts";
import { ownPublishersPath, repoPublishersPath } from "./publisher-paths.ts";

/** @param wanted names the repository, as each action here takes it; whether the person may is core's decision. */
export async function addRepoPublisherAction(
  wanted: RepoName,
  preset: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const [repo, page] = placeOf(wanted);
      await addPublisher(await requirePerson(page), { repo }, inputOf(preset, form), await requestOrigin());
      redirect(`${page}?notice=added&from=${preset}`);
    },
    { page: () => newPageOf(placeOf(wanted)[1], preset) },
  );
}

export async function removeRepoPublisherAction(
  wanted: RepoName,
  publisherId: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      const [repo, page] = placeOf(wanted);
      await removePublisher(await requirePerson(page), { repo }, publisherId, await requestOrigin());
      redirect(`${page}?notice=removed`);
    },
    { page: () => placeOf(wanted)[1] },
  );
}

export async function addOwnPublisherAction(preset: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async (form) => {
      const person = await requirePerson(ownPublishersPath);
      await addPublisher(person, { userId: person.userId }, inputOf(preset, form), await requestOrigin());
      redirect(`${ownPublishersPath}?notice=added&from=${preset}`);
    },
    { page: newPageOf(ownPublishersPath, preset) },
  );
}

export async function removeOwnPublisherAction(publisherId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(
    data,
    async () => {
      const person = await requirePerson(ownPublishersPath);
      await removePublisher(person, { userId: person.userId }, publisherId, await requestOrigin());
      redirect(`${ownPublishersPath}?notice=removed`);
    },
    { page: ownPublishersPath },
  );
}

/** What an action is bound to comes back from the browser. @throws ServiceError `not_found` */
function placeOf(wanted: RepoName): [repo: RepoName, page: string] {
  const repo = submittedRepoName(wanted);
  return [repo, repoPublishersPath(repo)];
}

/** The preset comes from the browser, as everything here does. */
function inputOf(preset: string, form: SubmittedForm): NewPublisher {
  if (!isPresetName(preset)) return { preset: "", values: {} };
  return { preset, values: Object.fromEntries(presets[preset].fields.map(({ name }) => [name, form.text(name)])) };
}

const newPageOf = (page: string, preset: string): string => `${page}/new${isPresetName(preset) ? `?from=${preset}` : ""}`;
