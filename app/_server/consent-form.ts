import type { SubmittedForm } from "./submitted-form.ts";

/** What a person ticked in the permissions modal, at sign-in and for a device. core compares it with the question (S25, S33). */
export const tickedConsent = (form: SubmittedForm) => ({
  scopes: form.all("scope"),
  orgIds: form.all("organization"),
  isAllOrgs: form.isTicked("all_organizations"),
  accountId: form.text("account"),
  fingerprint: form.text("app"),
});
