export type Option = {
  /** The placeholder in the help text. An option without a value is a switch. */
  value?: string;
  help: string;
  isRequired?: boolean;
  isRepeatable?: boolean;
  choices?: readonly string[];
  /** The field in core's errors that this option fills, if its name differs. */
  field?: string;
};

export type Options = Record<string, Option>;

type Values<O extends Options> = {
  [Name in keyof O]: O[Name] extends { value: string }
    ? O[Name] extends { isRepeatable: true }
      ? string[]
      : O[Name] extends { isRequired: true }
        ? string
        : string | undefined
    : boolean;
};

export type Outcome = {
  json: Record<string, unknown>;
  text: string;
  /** Set if a check found a fault. The output is complete, but the exit code is 1. */
  isFailure?: boolean;
};

export type Command = {
  name: string;
  summary: string;
  notes?: readonly string[];
  options: Options;
  /** False for commands that open the database themselves, or report that it cannot be opened. */
  opensInstance?: boolean;
  run(values: Record<string, unknown>): Promise<Outcome>;
};

export function command<const O extends Options>(definition: {
  name: string;
  summary: string;
  notes?: readonly string[];
  options: O;
  opensInstance?: boolean;
  run(values: Values<O>): Promise<Outcome>;
}): Command {
  return definition as unknown as Command;
}

export function listed(json: Record<string, unknown>, rows: readonly (readonly (string | null)[])[], ifEmpty = "None."): Outcome {
  const lines = rows.map((fields) => fields.map((field) => field?.replace(/\s+/g, " ")).join("\t"));
  return { json, text: lines.join("\n") || ifEmpty };
}

/** The command line is wrong. The exit code is 2. */
export class UsageError extends Error {
  override name = "UsageError";
}
