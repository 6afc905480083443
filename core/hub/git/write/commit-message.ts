import { ServiceError } from "../../../errors.ts";

const SUMMARY_MAX_CHARACTERS = 1_000;
const DESCRIPTION_MAX_CHARACTERS = 64 * 1024;

/**
 * A commit's message: a summary line, and below it the description.
 * @throws ServiceError `invalid_request`
 */
export function commitMessage(summary: string, description = ""): string {
  const line = text("summary", summary, SUMMARY_MAX_CHARACTERS)
    .split(/\n\s*/)
    .map((part) => part.trimEnd())
    .join(" ");
  if (line === "") throw new ServiceError("invalid_request", "Say in a line what the commit does.", { field: "summary" });
  const rest = text("description", description, DESCRIPTION_MAX_CHARACTERS);
  return rest === "" ? `${line}\n` : `${line}\n\n${rest}\n`;
}

function text(field: string, value: string, maxCharacters: number): string {
  if (value.length > maxCharacters) {
    throw new ServiceError("invalid_request", `Shorten the ${field} to at most ${maxCharacters} characters.`, { field });
  }
  if (!value.isWellFormed() || value.includes("\0")) {
    throw new ServiceError("invalid_request", `The ${field} has characters that are not valid text.`, { field });
  }
  return value.replace(/\r\n?/g, "\n").trim();
}

/** An annotated tag's message; empty for none. @throws ServiceError `invalid_request` */
export function tagMessage(message: string): string {
  const said = text("message", message, DESCRIPTION_MAX_CHARACTERS);
  return said === "" ? "" : `${said}\n`;
}
