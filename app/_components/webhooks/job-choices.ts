import type { Person } from "#core/access/actor.ts";
import { isServiceError } from "#core/errors.ts";
import { findRun, listRuns } from "#core/jobs/runs/find-run.ts";
import type { Run } from "#core/jobs/runs/run.ts";
import type { WebhookOwner } from "#core/webhooks/manage/webhook.ts";
import { relativeTime } from "../relative-time.tsx";
import type { JobChoice } from "./webhook-fields.tsx";

const CHOICES_MAX = 50;
const LABEL_MAX_CHARACTERS = 90;

/** Looks for the run by ID, because the run may be too old for the list. */
async function runOf(person: Person, owner: WebhookOwner, id: string, known: Run | undefined): Promise<Run[]> {
  if (known) return [known];
  try {
    return [await findRun(person, owner, id)];
  } catch (error) {
    if (isServiceError(error) && error.code === "not_found") return [];
    throw error;
  }
}

/** Lists each spec once, because a schedule creates many equal runs. @param wanted the ID of a run to list first */
export async function jobChoices(person: Person, owner: WebhookOwner, wanted = ""): Promise<JobChoice[]> {
  const { runs: latest } = await listRuns(person, owner, { limit: CHOICES_MAX });
  const [chosen] = latest.filter(({ id }) => id === wanted);
  const runs = wanted === "" ? latest : [...(await runOf(person, owner, wanted, chosen)), ...latest];
  const bySpec = new Map<string, JobChoice>();
  const now = new Date();
  for (const { id, spec, createdAt } of runs) {
    const key = JSON.stringify(spec);
    if (bySpec.has(key)) continue;
    const commandText = [...spec.command, ...spec.arguments].join(" ");
    const where = spec.spaceId ?? spec.dockerImage ?? "";
    const label = `${commandText.slice(0, LABEL_MAX_CHARACTERS)}${commandText.length > LABEL_MAX_CHARACTERS ? "…" : ""}`;
    bySpec.set(key, { id, label: `${label} (${where}, ${relativeTime(createdAt, now)})` });
  }
  return [...bySpec.values()];
}
