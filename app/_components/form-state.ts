import type { SafeHtml } from "./safe-html.ts";

/** The values with which fields are filled again. A field with several values (checkboxes of one name) keeps all of them. */
export type FormValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Shown once, right after it was created. */
export type RevealedSecret = Readonly<{ label: string; value: string }>;

/**
 * What a form's action returns and what the form is drawn from, with or without JavaScript. An action that succeeds
 * and has somewhere to go redirects instead.
 */
export type FormState = Readonly<{
  /** What the person typed, so that nothing is lost; never passwords or secrets. */
  values: FormValues;
  /** Whether `values` came from a submission: a checkbox that is missing from them was then unticked. */
  isSubmitted?: boolean;
  /** A message for each wrong field, by the field's name. */
  errors: Readonly<Record<string, string>>;
  /** A sentence about the whole form. */
  message?: Readonly<{ tone: "good" | "bad"; text: string }>;
  secret?: RevealedSecret;
  /** The Markdown of the form as readers will see it, when the person asked for that; null when there is nothing to show. */
  preview?: SafeHtml | null;
}>;

/** The value of the button `intent` that asks for a preview. */
export const PREVIEW = "preview";

export type FormAction = (previous: FormState, data: FormData) => Promise<FormState>;
