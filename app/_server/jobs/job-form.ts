import { type JobSpec, jobBodySchema, jobSpecOf } from "@keyhook/sdk";
import { ServiceError } from "#core/errors.ts";
import type { FormValues } from "../../_components/form-state.ts";
import type { SubmittedForm } from "../submitted-form.ts";
import { commandLine, commandWords, variableLines, variablesOf } from "./command-line.ts";

/** The fields of a job's form, and what of the API's body each of them is. */
const fieldOf: Readonly<Record<string, string>> = {
  dockerImage: "image",
  spaceId: "space",
  command: "command",
  arguments: "arguments",
  environment: "environment",
  secrets: "secrets",
  flavor: "flavor",
  timeoutSeconds: "minutes",
};

/** What was typed into the form of a job, in the words of the API. @throws ServiceError `invalid_request` with the field at fault */
export function submittedJob(form: SubmittedForm): { spec: JobSpec; secrets: Record<string, string> } {
  const isSpace = form.text("source") === "space";
  const command = commandWords(form.verbatim("command").replaceAll("\r\n", "\n"));
  if (!command) throw wrong("command", "A quote is not closed.");
  if (isSpace && command.length === 0) throw wrong("command", "Say what is to run among the files of the Space.");
  const minutes = Number(form.text("minutes") || "30");
  const parsed = jobBodySchema.safeParse({
    ...(isSpace ? { spaceId: form.text("space") } : { dockerImage: form.text("image") }),
    command,
    arguments: form.verbatim("arguments").replaceAll("\r\n", "\n").split("\n").filter(Boolean),
    environment: variables(form, "environment"),
    secrets: variables(form, "secrets"),
    flavor: form.text("flavor"),
    network: form.isTicked("network"),
    timeoutSeconds: Number.isFinite(minutes) ? Math.round(minutes * 60) : -1,
  });
  if (parsed.success) return jobSpecOf(parsed.data);
  const [issue] = parsed.error.issues;
  const field = fieldOf[String(issue?.path[0])] ?? "command";
  throw wrong(
    field === "image" && isSpace ? "space" : field,
    sentences[field] ?? `This ${issue?.message ?? "is not understood"}.`,
  );
}

const sentences: Readonly<Record<string, string>> = {
  image: "Name the image that it runs in, such as debian.",
  space: "Name the Space as owner/name.",
  minutes: "Choose between 1 minute and 1,440, which is a day.",
};

function variables(form: SubmittedForm, field: "environment" | "secrets"): Record<string, string> {
  const read = variablesOf(form.verbatim(field));
  if ("variables" in read) return read.variables;
  throw wrong(field, `Line ${read.wrongLine} is not understood. Write NAME=value, one in each line.`);
}

/** The same fields filled with a spec, for those who change something and run it again. */
export function jobFormValues(spec: JobSpec): FormValues {
  return {
    source: spec.spaceId ? "space" : "image",
    image: spec.dockerImage ?? "debian",
    space: spec.spaceId ?? "",
    command: commandLine(spec.command),
    arguments: spec.arguments.join("\n"),
    environment: variableLines(spec.environment),
    flavor: spec.flavor,
    minutes: spec.timeoutSeconds ? String(Math.round((spec.timeoutSeconds / 60) * 10) / 10) : "30",
    ...(spec.network && { network: "on" }),
  };
}

/** A refusal of core names what the API calls a field: the form has its own names. */
export async function inFormWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ServiceError && error.field && fieldOf[error.field])
      throw new ServiceError(error.code, error.message, { cause: error, field: fieldOf[error.field] as string });
    throw error;
  }
}

const wrong = (field: string, sentence: string) => new ServiceError("invalid_request", sentence, { field });
