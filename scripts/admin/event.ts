import { type RepoType, repoTypes } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { type ListedEvent, listEvents } from "#core/events/list-events.ts";
import { retryEvent } from "#core/events/retry-event.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { isId } from "#core/ids.ts";
import { command, UsageError } from "./command.ts";

const COUNT = 100;

export const eventList = command({
  name: "event list",
  summary: "Lists what was recorded of repositories, the latest first, with the payload that webhooks get.",
  notes: [
    "Events are kept for as long as their deliveries, 30 days unless WEBHOOK_KEEP_DAYS says otherwise. Those of a repository that was",
    "deleted are found by the id that it had. One that could not be told to webhooks was set aside, and says why.",
  ],
  options: {
    repo: { value: "OWNER/NAME", help: "of one repository: its name, or its id" },
    type: { value: repoTypes.join("|"), help: "what it is; a model unless given", choices: repoTypes },
    limit: { value: "N", help: `how many; ${COUNT} unless given, at most 1000` },
  },
  async run({ repo, type = "model", limit = String(COUNT) }) {
    if (!/^\d{1,9}$/.test(limit)) throw new UsageError("--limit must be a whole number.");
    const events = await listEvents(operatorCommand, {
      limit: Number(limit),
      ...(repo !== undefined && { repoId: await idOf(repo, type as RepoType) }),
    });
    return {
      json: {
        events: events.map(({ id, scope, action, payload, actorId, source, sourceId, createdAt, fannedOutAt, fanOutError }) => ({
          id,
          created_at: createdAt.toISOString(),
          scope,
          action,
          actor_id: actorId,
          source,
          source_id: sourceId,
          fanned_out_at: fanOutError === null ? (fannedOutAt?.toISOString() ?? null) : null,
          set_aside: fanOutError,
          payload,
        })),
      },
      text:
        events
          .map((event) => {
            const { id, createdAt, scope, action, payload } = event;
            // One that was set aside may be set aside for its payload.
            const repo = payload.repo?.name ? `${payload.repo.type} ${payload.repo.name}` : event.repoId;
            return [createdAt.toISOString(), id, `${scope} ${action}`, repo, stateOf(event)].join("\t");
          })
          .join("\n") || "Nothing was recorded.",
    };
  },
});

function stateOf({ fannedOutAt, fanOutError }: ListedEvent): string {
  if (fanOutError !== null) return `set aside: ${fanOutError}`;
  return fannedOutAt ? "told" : "waiting";
}

export const eventRetry = command({
  name: "event retry",
  summary: "Has webhooks told of an event that was set aside, once what was wrong is put right.",
  options: { id: { value: "ID", help: 'the event, as "event list" has it', isRequired: true } },
  async run({ id }) {
    await retryEvent(operatorCommand, id);
    return { json: { id }, text: "The worker makes its deliveries now." };
  },
});

async function idOf(repo: string, type: RepoType): Promise<string> {
  const isOwnId: boolean = isId(repo);
  if (isOwnId) return repo;
  const [owner, name, ...rest] = repo.split("/");
  if (!owner || !name || rest.length > 0) throw new UsageError("Write --repo as OWNER/NAME.");
  return (await findRepo(operatorCommand, { type, owner, name })).id;
}
