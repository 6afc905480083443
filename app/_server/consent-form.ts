import type { SubmittedForm } from "./submitted-form.ts";

/** A person's choices in the permissions modal, at sign-in and for a device. core compares them with the request (S25, S33). */
export const tickedConsent = (form: SubmittedForm) => ({
  scopes: form.all("scope"),
  orgIds: form.all("organization"),
  isAllOrgs: form.isTicked("all_organizations"),
  accountId: form.text("account"),
  fingerprint: form.text("app"),
});
