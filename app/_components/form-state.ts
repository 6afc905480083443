/** What a field may be filled with again; a field with several values (checkboxes of one name) keeps them all. */
export type FormValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Shown once, right after it was made. */
export type RevealedSecret = Readonly<{ label: string; value: string }>;

/**
 * What a form's action answers with and what the form is drawn from, with JavaScript or without. An action that succeeds
 * and has somewhere to go redirects instead.
 */
export type FormState = Readonly<{
  /** What was typed, so that nothing is lost; never passwords and secrets. */
  values: FormValues;
  /** Whether `values` came from a submission: a checkbox that is missing from them was then unticked. */
  isSubmitted?: boolean;
  /** A sentence for each field at fault, by the field's name. */
  errors: Readonly<Record<string, string>>;
  /** A sentence about the whole form. */
  message?: Readonly<{ tone: "good" | "bad"; text: string }>;
  secret?: RevealedSecret;
}>;

export type FormAction = (previous: FormState, data: FormData) => Promise<FormState>;
