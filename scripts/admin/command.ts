/** One option of a command: `--name VALUE`, or a switch when it takes no value. */
export type Option = {
  /** What stands for the value in the help text; an option without it is a switch. */
  value?: string;
  help: string;
  isRequired?: boolean;
  /** May be given several times. */
  isRepeatable?: boolean;
  choices?: readonly string[];
  /** The field of core's errors that this option fills, when it is not the option's own name. */
  field?: string;
};

export type Options = Record<string, Option>;

/** What a command gets for its options: text, a list for a repeatable one, a boolean for a switch. */
export type Values<O extends Options> = {
  [Name in keyof O]: O[Name] extends { value: string }
    ? O[Name] extends { isRepeatable: true }
      ? string[]
      : O[Name] extends { isRequired: true }
        ? string
        : string | undefined
    : boolean;
};

/** What a command has to say: `json` for programs, `text` for people. */
export type Outcome = {
  json: Record<string, unknown>;
  text: string;
  /** Set by `doctor`, whose findings are its output, when something is broken. */
  isFailure?: boolean;
};

export type Command = {
  /** As typed: `user create`. */
  name: string;
  summary: string;
  /** More to say under `--help`, a line each. */
  notes?: readonly string[];
  options: Options;
  /** Off for `doctor`, which has something to say when the database cannot be opened. */
  opensInstance?: boolean;
  run(values: Record<string, unknown>): Promise<Outcome>;
};

/** Ties the type of the values to the table of options. */
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

/** The command line itself is wrong (exit code 2). */
export class UsageError extends Error {
  override name = "UsageError";
}
