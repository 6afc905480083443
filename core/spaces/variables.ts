import type { Actor } from "../access/actor.ts";
import { partyOf } from "../access/may.ts";
import { plainText } from "../accounts/plain-text.ts";
import { consumeBytes, type ThrottleLimit, throttleKey } from "../accounts/throttle.ts";
import type { AuditEventType } from "../audit/event-types.ts";
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { RequestOrigin } from "../audit/request-origin.ts";
import { seal, unseal } from "../crypto/seal.ts";
import { type Db, db } from "../db.ts";
import { invalidRequest, notFound } from "../errors.ts";
import { changeRepo } from "../hub/repos/change-repo.ts";
import type { Repo } from "../hub/repos/repo.ts";
import type { SpaceName } from "./controls/change-runtime.ts";
import { SPACE_CHANNEL } from "./stages.ts";

const VARIABLES_MAX = 100;
const VALUE_MAX_CHARACTERS = 32_768;
/** The limit for all values together. Linux limits the environment and the arguments of a program to 2 MiB. */
const VALUES_MAX_BYTES = 512 * 1024;
const DESCRIPTION_MAX_CHARACTERS = 500;
/** An account may have any number of Spaces, so this limit is per account (S137). */
const SET_BYTES: ThrottleLimit = { limit: 16 * 1024 * 1024, windowSeconds: 24 * 60 * 60 };
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;
const OURS = /^(PORT|SPACE_.*)$/;

/** The purpose for sealing. Values that are not secret are sealed too. */
const SPACE_VARIABLE = "space variable";

type NewVariable = { name: string; value: string; isSecret: boolean; description?: string | null | undefined };

export async function setSpaceVariable(actor: Actor, space: SpaceName, given: NewVariable, from: RequestOrigin): Promise<void> {
  const { name, value, isSecret, description = null } = given;
  if (!NAME.test(name))
    throw invalid("key", "Use only letters, digits and underscores for the name of a variable, and do not begin with a digit.");
  if (OURS.test(name)) throw invalid("key", `${name} is set by this service. Choose another name.`);
  if (value.includes("\0") || !value.isWellFormed())
    throw invalid("value", "A value must be valid Unicode text without NUL characters.");
  if (value.length > VALUE_MAX_CHARACTERS)
    throw invalid("value", `A value can have at most ${VALUE_MAX_CHARACTERS.toLocaleString("en")} characters.`);
  if (description !== null) plainText("description", description, DESCRIPTION_MAX_CHARACTERS);
  const party = partyOf(actor);
  if (party) await consumeBytes(throttleKey("space-variables", party), value + (description ?? ""), SET_BYTES);
  const data = { isSecret, value: seal(SPACE_VARIABLE, value), description, updatedAt: new Date() };
  await change(actor, space, { type: "space.set_variable", name, from }, async (tx, repo) => {
    const others = await tx.spaceVariable.count({ where: { repoId: repo.id, name: { not: name } } });
    if (others >= VARIABLES_MAX) throw invalid("key", `A Space can have at most ${VARIABLES_MAX} variables.`);
    const [{ stored } = { stored: 0 }] = await tx.$queryRaw<{ stored: number }[]>`
      SELECT coalesce(sum(octet_length(value)), 0)::int AS stored FROM space_variable WHERE repo_id = ${repo.id} AND name <> ${name}`;
    if (stored + data.value.length > VALUES_MAX_BYTES)
      throw invalid("value", "The variables of a Space can take up at most 512 KiB in total. Put large data into files.");
    await tx.spaceVariable.upsert({
      where: { repoId_name: { repoId: repo.id, name } },
      create: { repoId: repo.id, name, ...data },
      update: data,
    });
  });
}

export async function deleteSpaceVariable(
  actor: Actor,
  space: SpaceName,
  { name, isSecret }: { name: string; isSecret: boolean },
  from: RequestOrigin,
): Promise<void> {
  await change(actor, space, { type: "space.delete_variable", name, from }, async (tx, repo) => {
    const { count } = await tx.spaceVariable.deleteMany({ where: { repoId: repo.id, name, isSecret } });
    if (count === 0) throw notFound("Variable");
  });
}

async function change(
  actor: Actor,
  space: SpaceName,
  { type, name, from }: { type: AuditEventType; name: string; from: RequestOrigin },
  perform: (tx: Db, repo: Repo) => Promise<void>,
): Promise<void> {
  await changeRepo(actor, { type: "space", ...space }, async (tx, repo) => {
    await perform(tx, repo);
    // A failed Space may have failed because it lacked this variable.
    await tx.$executeRaw`
      UPDATE space_runtime SET generation = generation + 1, restarts = 0, updated_at = now(), due_at = now(), awaited_at = NULL,
        is_wanted = is_wanted OR stage = 'RUNTIME_ERROR',
        message = CASE WHEN stage = 'RUNTIME_ERROR' THEN NULL ELSE message END,
        stage = CASE WHEN stage = 'RUNTIME_ERROR' THEN 'APP_STARTING' ELSE stage END
      WHERE repo_id = ${repo.id}`;
    await recordAuditEvent(tx, { type, actor, owner: repo.owner, data: { repo: repo.fullName, type: repo.type, name }, from });
    await tx.$executeRaw`SELECT pg_notify(${SPACE_CHANNEL}, ${repo.id})`;
  });
}

const invalid = (field: string, description: string) => invalidRequest(description, field);

type SpaceVariable = {
  name: string;
  isSecret: boolean;
  /** Undefined if the variable is secret (S130). */
  value: string | undefined;
  description: string | null;
  updatedAt: Date;
};

/** The caller must have checked access. There are few variables, so the list has no pages. */
export async function listSpaceVariables(repoId: string): Promise<SpaceVariable[]> {
  const rows = await db().spaceVariable.findMany({ where: { repoId }, orderBy: { name: "asc" } });
  return rows.map(({ name, isSecret, value, description, updatedAt }) => ({
    name,
    isSecret,
    value: isSecret ? undefined : unseal(SPACE_VARIABLE, value),
    description,
    updatedAt,
  }));
}

/** The Space's log must not show the secrets (S134). */
export async function readSpaceEnvironment(repoId: string): Promise<{ environment: Record<string, string>; secrets: string[] }> {
  const rows = await db().spaceVariable.findMany({ where: { repoId }, orderBy: { name: "asc" } });
  const opened = rows.map(({ name, isSecret, value }) => ({ name, isSecret, value: unseal(SPACE_VARIABLE, value) }));
  return {
    environment: Object.fromEntries(opened.map(({ name, value }) => [name, value])),
    secrets: opened.filter(({ isSecret }) => isSecret).map(({ value }) => value),
  };
}
