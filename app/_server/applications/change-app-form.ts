import { redirect } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { isServiceError } from "#core/errors.ts";
import { type AppDetails, getApp } from "#core/oauth/apps/get-app.ts";
import type { FormState } from "../../_components/form-state.ts";
import { type FormOutcome, submitForm } from "../form.ts";
import { signInPath } from "../next-path.ts";
import { requestOrigin } from "../request-origin.ts";
import { requirePerson } from "../session.ts";
import type { SubmittedForm } from "../submitted-form.ts";
import { appHome, appPath } from "./app-paths.ts";

type Context = {
  form: SubmittedForm;
  person: Person;
  from: RequestOrigin;
  /** The app as it is before the change. */
  details: AppDetails;
  /** Its page. */
  page: string;
};

/** Runs a form about one app; who must prove anew who they are does so and comes back to the app's page (S113). */
export async function changeAppForm(
  appId: string,
  data: FormData,
  work: (context: Context) => Promise<FormOutcome | undefined>,
): Promise<FormState> {
  return submitForm(data, async (form) => {
    const person = await requirePerson("/settings/applications");
    const details = await getApp(person, appId);
    const page = appPath(appHome(details), appId);
    try {
      return await work({ form, person, from: await requestOrigin(), details, page });
    } catch (error) {
      if (isServiceError(error) && error.code === "reauthentication_required") {
        redirect(signInPath(page, { isReauthentication: true }));
      }
      throw error;
    }
  });
}
