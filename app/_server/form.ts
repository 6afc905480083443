import { redirect, unstable_rethrow } from "next/navigation";
import { isDatabaseDown } from "#core/db.ts";
import { isServiceError, type ServiceError } from "#core/errors.ts";
import { log } from "#core/log.ts";
import type { FormState, FormValues } from "../_components/form-state.ts";
import { signInPath } from "./next-path.ts";
import { setPageStatus } from "./page-status.ts";
import { SubmittedForm } from "./submitted-form.ts";

export type FormOutcome = Readonly<{
  /** Said above the form when all went well. */
  message?: string;
  /** What the fields show next; what was typed, unless told. */
  values?: FormValues;
  /** Messages of the form's own, beside the fields. */
  errors?: FormState["errors"];
  secret?: FormState["secret"];
}>;

export type SubmitOptions = Readonly<{
  /** The page of the form: where to come back to when the person has to prove who they are first (S113). */
  page?: string | ((form: SubmittedForm) => string);
}>;

/**
 * Runs the work of a form's server action and turns whatever happens into what the form shows. The one place where a page
 * translates a `ServiceError`; an unknown error is logged with its cause and never echoed. `redirect()` inside the work
 * passes through.
 *
 *     export async function renameApp(_: FormState, data: FormData) {
 *       return submitForm(data, async (form) => {
 *         await updateApp(…, { name: form.text("name") });
 *         return { message: "Saved." };
 *       });
 *     }
 */
export async function submitForm(
  data: FormData,
  work: (form: SubmittedForm) => Promise<FormOutcome | undefined>,
  { page }: SubmitOptions = {},
): Promise<FormState> {
  const form = new SubmittedForm(data);
  try {
    form.requireStorableText();
    const outcome = (await work(form)) ?? {};
    return {
      values: outcome.values ?? form.echo(),
      isSubmitted: outcome.values === undefined,
      errors: outcome.errors ?? {},
      message: outcome.message ? { tone: "good", text: outcome.message } : undefined,
      secret: outcome.secret,
    };
  } catch (error) {
    unstable_rethrow(error);
    if (page && isServiceError(error) && error.code === "reauthentication_required") {
      redirect(signInPath(typeof page === "string" ? page : page(form), { isReauthentication: true }));
    }
    if (isServiceError(error)) setPageStatus(error.status, error.retryAfterSeconds);
    else setPageStatus(isDatabaseDown(error) ? 503 : 500);
    return { values: form.echo(), isSubmitted: true, ...explain(error, form) };
  }
}

/** The sentence for a failure, beside its field when the form has it. */
function explain(error: unknown, form: SubmittedForm): Pick<FormState, "errors" | "message"> {
  if (isServiceError(error)) {
    if (error.field && form.has(error.field)) return { errors: { [error.field]: error.message } };
    return { errors: {}, message: { tone: "bad", text: error.message + waitingTime(error) } };
  }
  if (isDatabaseDown(error)) {
    return {
      errors: {},
      message: { tone: "bad", text: "The service is not available for a moment. Nothing was lost: send it again shortly." },
    };
  }
  log().error({ err: error }, "a form's action failed");
  return {
    errors: {},
    message: { tone: "bad", text: "Something went wrong on our side. Nothing was lost: try to send it again." },
  };
}

function waitingTime({ code, retryAfterSeconds }: ServiceError): string {
  if (code !== "rate_limited" || !retryAfterSeconds) return "";
  const minutes = Math.ceil(retryAfterSeconds / 60);
  return minutes > 1 ? ` Try again in ${minutes} minutes.` : " Try again in a minute.";
}
