import { repoTypes } from "@keyhook/sdk";
import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { isRefName } from "../git/refs/ref-name.ts";
import { parseRepoName } from "../repos/parse-repo-name.ts";
import { DESCRIPTION_MAX_CHARACTERS } from "../repos/repo-settings.ts";

export const EXTERNAL_ID_MAX_CHARACTERS = 200;
const URL_MAX_CHARACTERS = 2_000;

/** The platform's own name for something: numbers are taken as their digits. */
export const externalIdSchema = z
  .union([z.string(), z.int()])
  .transform(String)
  .pipe(z.string().min(1).max(EXTERNAL_ID_MAX_CHARACTERS));

export const fullNameSchema = z
  .string()
  .max(300)
  .regex(/^[^/]+\/[^/]+$/, "write owner/name");

/** A repository as the platform that holds it tells of it. */
export const mirroredRepoSchema = z.object({
  type: z.enum(repoTypes).default("model"),
  /** `owner/name`; the owner is a user or an organization here. */
  name: fullNameSchema,
  /** The platform's own, which stays the same when the repository is renamed. */
  id: externalIdSchema,
  private: z.boolean(),
  /** Where people find it. */
  url: z.url({ protocol: /^https?$/ }).max(URL_MAX_CHARACTERS),
  description: z.string().max(DESCRIPTION_MAX_CHARACTERS).nullish(),
  tags: z.array(z.string().min(1).max(100)).max(100).optional(),
  defaultBranch: z.string().refine(isRefName, "is no name of a branch").optional(),
  /** The commit of the default branch; null while there is none. */
  headSha: z
    .string()
    .regex(/^[0-9a-f]{40}$/, "must be 40 hex digits")
    .nullish(),
});

export type MirroredRepo = z.infer<typeof mirroredRepoSchema>;

/** A full name as it is looked up and kept. @throws ServiceError `invalid_request` for what can be no repository's name here */
export function splitName(fullName: string): { handle: string; spelled: string; canonical: string } {
  const [handle = "", name = ""] = fullName.split("/");
  return { handle: handle.toLowerCase(), ...parseRepoName(name) };
}

/** The first thing that a schema finds wrong, as a failure that names the field. */
export function refusalOf({ issues: [issue] }: z.ZodError, prefix = ""): ServiceError {
  const field = [prefix, ...(issue?.path ?? [])].filter((part) => part !== "").join(".");
  return new ServiceError("invalid_request", `${field || "The body"}: ${issue?.message ?? "not understood"}.`, { field });
}
