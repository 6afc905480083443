"use server";

import { redirect } from "next/navigation";
import { isPresetName, presets } from "#core/accounts/publishers/presets.ts";
import { addPublisher, removePublisher } from "#core/hub/publishers/change-publishers.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { formAction, type Scope, text } from "../form-action.ts";
import { type ByPerson, type OnRepo, personAt, repoAt } from "../scopes.ts";
import { ownPublishersPath, repoPublishersPath } from "./publisher-paths.ts";

/** The fields of all presets. A form has only the fields of one preset, and core refuses the fields of another. */
const fields = Object.fromEntries(
  Object.values(presets).flatMap((preset) => preset.fields.map(({ name }) => [name, text] as const)),
);

/** The browser sends the preset, so it may have any value. */
const newPage = (preset: string): string => `/new${isPresetName(preset) ? `?from=${preset}` : ""}`;

const newOnRepo: Scope<[repo: RepoName, preset: string], OnRepo & Readonly<{ preset: string }>> = {
  argumentCount: 2,
  enter: async (form, repo, preset) => ({
    ...(await repoAt(`/settings/publishers${newPage(preset)}`).enter(form, repo)),
    preset,
  }),
};

export const addRepoPublisherAction = formAction(newOnRepo, fields, async ({ person, repo, preset, input: values, from }) => {
  await addPublisher(person, { repo }, { preset, values }, from);
  redirect(`${repoPublishersPath(repo)}?notice=added&from=${preset}`);
});

export const deleteRepoPublisherAction = formAction(
  repoAt("/settings/publishers"),
  {},
  async ({ person, repo, page, from }, publisherId: string) => {
    await removePublisher(person, { repo }, publisherId, from);
    redirect(`${page}?notice=deleted`);
  },
);

const newOfPerson: Scope<[preset: string], ByPerson & Readonly<{ preset: string }>> = {
  argumentCount: 1,
  enter: async (form, preset) => ({ ...(await personAt(`${ownPublishersPath}${newPage(preset)}`).enter(form)), preset }),
};

export const addOwnPublisherAction = formAction(newOfPerson, fields, async ({ person, preset, input: values, from }) => {
  await addPublisher(person, { userId: person.userId }, { preset, values }, from);
  redirect(`${ownPublishersPath}?notice=added&from=${preset}`);
});

export const deleteOwnPublisherAction = formAction(
  personAt(ownPublishersPath),
  {},
  async ({ person, page, from }, publisherId: string) => {
    await removePublisher(person, { userId: person.userId }, publisherId, from);
    redirect(`${page}?notice=deleted`);
  },
);
