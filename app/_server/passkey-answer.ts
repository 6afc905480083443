import { isServiceError } from "#core/errors.ts";
import type { PasskeyOptions } from "../_components/passkey-button.client.tsx";
import { noteBeginning } from "./page-status.ts";
import type { SubmittedForm } from "./submitted-form.ts";

/** More than any response that core accepts. */
const ANSWER_MAX_CHARACTERS = 64 * 1024;

/** Returns undefined for invalid JSON or a value that is too long. core refuses undefined like any other invalid value. */
export function passkeyAnswer(form: SubmittedForm): unknown {
  const json = form.verbatim("passkeyAnswer");
  if (json.length > ANSWER_MAX_CHARACTERS) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export async function passkeyOptions(ask: () => Promise<Exclude<PasskeyOptions, { problem: string }>>): Promise<PasskeyOptions> {
  noteBeginning();
  try {
    return await ask();
  } catch (error) {
    if (isServiceError(error)) return { problem: error.message };
    throw error;
  }
}
