import { plainText } from "../../accounts/plain-text.ts";
import { ServiceError } from "../../errors.ts";

export const REPO_NAME_MAX_CHARACTERS = 96;

// As clients check it before they ask: letters, digits, `.`, `_`, `-`; no two of `.` or `-` in a row, none at either end.
const SHAPE = /^(?!.*(--|\.\.))[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?$/;
const MISLEADING_ENDING = /\.(git|ipynb|lock|atom|rss)$/i;
/** Second segments of addresses of ours under `/<owner>/` (S139). */
const RESERVED = new Set(["activity", "collections", "datasets", "discussions", "models", "new", "settings", "spaces"]);

/**
 * Reads a repository's name, without its owner (S137, S139).
 * @returns the name as spelled, and the form in which it is unique under its owner
 * @throws ServiceError `invalid_request` with the field `name`
 */
export function parseRepoName(value: unknown, field = "name"): { spelled: string; canonical: string } {
  const spelled = plainText(field, value, 1_000).trim();
  const refuse = (sentence: string) => new ServiceError("invalid_request", sentence, { field });
  if (spelled === "") throw refuse("Give the repository a name.");
  if (spelled.length > REPO_NAME_MAX_CHARACTERS) throw refuse(`Use at most ${REPO_NAME_MAX_CHARACTERS} characters.`);
  if (!SHAPE.test(spelled)) {
    throw refuse("Use letters, digits, . _ and -; no .. or --, and neither . nor - at the beginning or the end.");
  }
  if (MISLEADING_ENDING.test(spelled)) throw refuse("The name cannot end in .git, .ipynb, .lock, .atom or .rss.");
  if (RESERVED.has(spelled.toLowerCase())) throw refuse("This name is reserved. Choose another.");
  return { spelled, canonical: spelled.toLowerCase() };
}
