import type { SubmittedForm } from "./submitted-form.ts";

/** core compares the choices with the request (S25, S33). */
export const tickedConsent = (form: SubmittedForm) => ({
  scopes: form.all("scope"),
  orgIds: form.all("organization"),
  isAllOrgs: form.isTicked("all_organizations"),
  accountId: form.text("account"),
  fingerprint: form.text("app"),
});
