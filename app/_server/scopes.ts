import { type Person, personActor } from "#core/access/actor.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import type { FormPage, Scope } from "./form-action.ts";
import {
  type OrganizationPage,
  type OrganizationPageName,
  organizationPath,
  requireOrganizationPage,
} from "./organization-page.ts";
import { givenText } from "./paths.ts";
import { repoNameHref, submittedRepoName } from "./repo-page.ts";
import { requireOperator, requirePerson, requireSession, type SiteSession } from "./session.ts";
import type { SubmittedForm } from "./submitted-form.ts";

export const anybody: Scope<[], FormPage> = { argumentCount: 0, enter: async () => ({}) };

export type ByPerson = Readonly<{ session: SiteSession; person: Person; page: string }>;

export function personAt(page: string | ((form: SubmittedForm) => string)): Scope<[], ByPerson> {
  return {
    argumentCount: 0,
    enter: async (form) => {
      const at = typeof page === "string" ? page : page(form);
      const session = await requireSession(at);
      return { session, person: personActor(session), page: at };
    },
  };
}

export function operatorAt(page: string | ((form: SubmittedForm) => string)): Scope<[], ByOperator> {
  return {
    argumentCount: 0,
    enter: async (form) => {
      const at = typeof page === "string" ? page : page(form);
      return { operator: await requireOperator(at), page: at };
    },
  };
}

type ByOperator = Readonly<{ operator: Person; page: string }>;

export function operatorOn(
  pageOf: (subject: string) => string,
): Scope<[subject: string], ByOperator & Readonly<{ subject: string }>> {
  return {
    argumentCount: 1,
    enter: async (_form, given) => {
      const subject = givenText(given);
      const page = pageOf(subject);
      return { operator: await requireOperator(page), subject, page };
    },
  };
}

export function organizationAt(page: OrganizationPageName): Scope<[name: string], OrganizationPage & Readonly<{ page: string }>> {
  return {
    argumentCount: 1,
    enter: async (_form, name) => ({ ...(await requireOrganizationPage(name)), page: organizationPath(name, page) }),
  };
}

export type OnRepo = Readonly<{ person: Person; repo: RepoName; page: string }>;

export function repoAt(below = ""): Scope<[repo: RepoName], OnRepo> {
  return {
    argumentCount: 1,
    enter: async (_form, wanted) => {
      const repo = submittedRepoName(wanted);
      const page = `${repoNameHref(repo)}${below}`;
      return { repo, person: await requirePerson(page), page };
    },
  };
}
