import { type JobSpec, jobBodySchema, jobSpecOf } from "@keyhook/sdk";
import { checkAll, ServiceError } from "#core/errors.ts";
import type { FormValues } from "../../_components/form-state.ts";
import type { SubmittedForm } from "../submitted-form.ts";
import { commandLine, commandWords, variableLines, variablesOf } from "./command-line.ts";

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

/** @throws ServiceError with every wrong field */
export async function submittedJob(form: SubmittedForm): Promise<{ spec: JobSpec; secrets: Record<string, string> }> {
  const isSpace = form.text("source") === "space";
  const typed = await checkAll({
    command: () => submittedCommand(form, isSpace),
    environment: () => variables(form, "environment"),
    secrets: () => variables(form, "secrets"),
  });
  const minutes = Number(form.text("minutes") || "30");
  const parsed = jobBodySchema.safeParse({
    ...(isSpace ? { spaceId: form.text("space") } : { dockerImage: form.text("image") }),
    ...typed,
    arguments: form.verbatim("arguments").replaceAll("\r\n", "\n").split("\n").filter(Boolean),
    flavor: form.text("flavor"),
    network: form.isTicked("network"),
    timeoutSeconds: Number.isFinite(minutes) ? Math.round(minutes * 60) : -1,
  });
  if (parsed.success) return jobSpecOf(parsed.data);
  const [first = wrong("command", "Enter a command."), ...others] = parsed.error.issues.map(({ path: [name], message }) => {
    const field = fieldOf[String(name)] ?? "command";
    return wrong(field === "image" && isSpace ? "space" : field, sentences[field] ?? `This ${message}.`);
  });
  throw Object.assign(first, { others });
}

function submittedCommand(form: SubmittedForm, isSpace: boolean): string[] {
  const command = commandWords(form.verbatim("command").replaceAll("\r\n", "\n"));
  if (!command) throw wrong("command", "Close the quotation mark.");
  if (isSpace && command.length === 0) throw wrong("command", "Enter a command to run with the Space's files.");
  return command;
}

const sentences: Readonly<Record<string, string>> = {
  image: "Enter an image, such as debian.",
  space: "Enter the Space as owner/name.",
  minutes: "Enter 1 to 1,440 minutes.",
};

function variables(form: SubmittedForm, field: "environment" | "secrets"): Record<string, string> {
  const read = variablesOf(form.verbatim(field));
  if ("variables" in read) return read.variables;
  throw wrong(field, `Line ${read.wrongLine} is not valid. Write NAME=value, one per line, and close each quotation mark.`);
}

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

/** core's errors name the API's properties, which differ from the form's fields. */
export async function withFormFieldNames<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ServiceError && error.field && fieldOf[error.field])
      throw new ServiceError(error.code, error.message, { cause: error, field: fieldOf[error.field] as string });
    throw error;
  }
}

const wrong = (field: string, sentence: string) => new ServiceError("invalid_request", sentence, { field });
