import { isServiceError } from "#core/errors.ts";
import type { AskedPasskey } from "../_components/passkey-button.client.tsx";
import type { SubmittedForm } from "./submitted-form.ts";

/** What a form's `PasskeyButton` sent; undefined for what is no JSON, which core refuses as it does any other nonsense. */
export function passkeyAnswer(form: SubmittedForm): unknown {
  try {
    return JSON.parse(form.verbatim("passkeyAnswer"));
  } catch {
    return undefined;
  }
}

/** Runs what a `PasskeyButton` asks for: an expected failure is a sentence for its person. */
export async function askPasskey(ask: () => Promise<Exclude<AskedPasskey, { problem: string }>>): Promise<AskedPasskey> {
  try {
    return await ask();
  } catch (error) {
    if (isServiceError(error)) return { problem: error.message };
    throw error;
  }
}
