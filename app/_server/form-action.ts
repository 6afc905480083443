import { redirect, unstable_rethrow } from "next/navigation";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { isDatabaseDown } from "#core/database-errors.ts";
import { checkAll, isServiceError, ServiceError } from "#core/errors.ts";
import { log } from "#core/log.ts";
import type { FormState, FormValues } from "../_components/form-state.ts";
import { nextPath, signInPath } from "./next-path.ts";
import { noteBeginning, setPageStatus } from "./page-status.ts";
import { requestOrigin } from "./request-origin.ts";
import { SubmittedForm } from "./submitted-form.ts";

export type Scope<Own extends readonly unknown[], Context extends FormPage> = Readonly<{
  /** How many of the bound arguments are for the scope. These arguments come first. */
  argumentCount: Own["length"];
  /** Identifies the sender, or redirects to the sign-in page. The browser sends the bound arguments, so any value is possible. */
  enter: (form: SubmittedForm, ...own: Own) => Promise<Context>;
}>;

export type FormPage = Readonly<{
  /** A user who must authenticate again returns to this page (S113). */
  page?: string;
}>;

export type FormOutcome = Readonly<{
  message?: string;
  /** By default, the submitted values. */
  values?: FormValues;
  errors?: FormState["errors"];
  secret?: FormState["secret"];
  preview?: FormState["preview"];
}>;

export type BoundAction<Bound extends readonly unknown[]> = (
  ...args: [...bound: Bound, previous: FormState, data: FormData]
) => Promise<FormState>;

/** The scope identifies the sender before the fields are read, so that a stranger's form costs nothing (S137). */
export function formAction<Own extends readonly unknown[], Context extends FormPage, F extends Fields, Rest extends unknown[]>(
  scope: Scope<Own, Context>,
  fields: F,
  work: (
    context: Context & Readonly<{ input: Input<F>; from: RequestOrigin }>,
    ...bound: Rest
  ) => Promise<FormOutcome | undefined>,
): BoundAction<[...Own, ...Rest]> {
  return async (...args) => {
    const bound: readonly unknown[] = args.slice(0, -2);
    let page: string | undefined;
    return submitForm(
      args.at(-1) as FormData,
      async (form) => {
        const context = await scope.enter(form, ...(bound.slice(0, scope.argumentCount) as unknown as Own));
        page = context.page;
        const input = await readFields(fields, form);
        const all = { ...context, input, from: await requestOrigin() };
        return work(all, ...(bound.slice(scope.argumentCount) as Rest));
      },
      () => page,
    );
  };
}

/** Translates a form's `ServiceError`. @param pageOf the page to which a user returns after proving their identity */
export async function submitForm(
  data: FormData,
  work: (form: SubmittedForm) => Promise<FormOutcome | undefined>,
  pageOf: () => string | undefined,
): Promise<FormState> {
  noteBeginning();
  const form = new SubmittedForm(data);
  try {
    form.requireStorableText();
    return succeeded(form, await work(form));
  } catch (error) {
    unstable_rethrow(error);
    const page = pageOf();
    if (page && isServiceError(error) && error.code === "reauthentication_required") {
      redirect(signInPath(page, { isReauthentication: true }));
    }
    return failed(form, error);
  }
}

function succeeded(form: SubmittedForm, { message, values, errors = {}, ...shown }: FormOutcome = {}): FormState {
  return {
    values: values ?? form.echo(),
    isSubmitted: values === undefined,
    errors,
    message: message ? { tone: "good", text: message } : undefined,
    ...shown,
  };
}

function failed(form: SubmittedForm, error: unknown): FormState {
  if (isServiceError(error)) return refused(form, [error, ...error.others]);
  const isAway = isDatabaseDown(error);
  if (!isAway) log().error({ err: error }, "a form's action failed");
  setPageStatus(isAway ? 503 : 500);
  const text = isAway
    ? "The service is briefly unavailable. Try again in a moment."
    : "Something went wrong on our side. Try again.";
  return { values: form.echo(), isSubmitted: true, errors: {}, message: { tone: "bad", text } };
}

/** A message about a field that the form lacks is shown above the form. */
function refused(form: SubmittedForm, refusals: readonly ServiceError[]): FormState {
  const [first] = refusals;
  if (first) setPageStatus(first.status, first.retryAfterSeconds);
  const errors: Record<string, string> = {};
  let message: FormState["message"];
  for (const error of refusals) {
    if (error.field && form.has(error.field)) errors[error.field] ??= error.message;
    else message ??= { tone: "bad", text: error.message };
  }
  return { values: form.echo(), isSubmitted: true, errors, ...(message && { message }) };
}

/** @throws ServiceError unless the user typed the name of the object to be deleted */
export function requireConfirmation(confirmation: string, name: string): void {
  if (confirmation === name) return;
  throw new ServiceError("invalid_request", `Type ${name} to confirm.`, { field: "confirmation" });
}

/** `name` is the field's key in `Fields`. @throws ServiceError that names the field at fault */
type Reader<T> = (form: SubmittedForm, name: string) => T | Promise<T>;

/** `core` decides for all doors which values are valid. */
type Fields = Readonly<Record<string, Reader<unknown>>>;

export type Input<F extends Fields> = { [Name in keyof F]: Awaited<ReturnType<F[Name]>> };

export const text = (form: SubmittedForm, name: string): string => form.text(name);

/** Keeps spaces, for passwords and keys. */
export const verbatim = (form: SubmittedForm, name: string): string => form.verbatim(name);

export const optional = (form: SubmittedForm, name: string): string | null => form.optional(name);

export const texts = (form: SubmittedForm, name: string): string[] => form.all(name);

export const ticked = (form: SubmittedForm, name: string): boolean => form.isTicked(name);

export const localPath = (form: SubmittedForm, name: string): string => nextPath(form.text(name));

/** Returns null if a box such as `removeLogo` for `logo` is ticked. Undefined leaves the image unchanged. */
export async function image(form: SubmittedForm, name: string): Promise<Uint8Array | null | undefined> {
  const isRemoved = form.isTicked(`remove${name.charAt(0).toUpperCase()}${name.slice(1)}`);
  return (await form.file(name)) ?? (isRemoved ? null : undefined);
}

/** @throws ServiceError with every invalid field */
function readFields<F extends Fields>(fields: F, form: SubmittedForm): Promise<Input<F>> {
  return checkAll(Object.fromEntries(Object.entries(fields).map(([name, read]) => [name, () => read(form, name)]))) as Promise<
    Input<F>
  >;
}
