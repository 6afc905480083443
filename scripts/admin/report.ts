import { isServiceError, type ServiceError } from "#core/errors.ts";
import type { Command } from "./command.ts";

export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** Characters that a terminal would obey, or that hide text. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The text may contain what platforms, mail servers or users sent. Line ends and tabs stay. */
export function printable(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(OBEYED, (character) => (/[\n\t]/.test(character) ? character : character.split("").map(escaped).join("")));
}

type Failure = { exitCode: number; json: { error: string; code: string; field?: string }; text: string };

export function describeFailure(error: unknown, command?: Command): Failure {
  if (isServiceError(error)) return describeServiceError(error, command);
  if (error instanceof Error && error.name === "UsageError") return failure(EXIT.usage, "usage", error.message);
  if (error instanceof Error && ["SettingsError", "DatabaseCopyError"].includes(error.name))
    return failure(EXIT.failed, "settings", error.message);
  if (error instanceof Error && error.name === "BackupError") return failure(EXIT.failed, "backup", error.message);
  const reason = error instanceof Error ? error.message || error.name : String(error);
  return failure(EXIT.failed, "failed", `${reason}\n"doctor" checks the installation and says what to do.`);
}

/** A value that is never valid is wrong usage (exit code 2). A conflict with the current state is a failure (exit code 1). */
function describeServiceError(error: ServiceError, command?: Command): Failure {
  const option = Object.entries(command?.options ?? {}).find(([name, { field }]) => (field ?? name) === error.field)?.[0];
  const sentence = option ? `--${option}: ${error.message}` : error.message;
  return failure(error.code === "invalid_request" ? EXIT.usage : EXIT.failed, error.code, sentence, option);
}

function failure(exitCode: number, code: string, error: string, field?: string): Failure {
  return { exitCode, json: { error, code, field }, text: error };
}
