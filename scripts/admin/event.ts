import { type RepoType, repoTypes } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { type ListedEvent, listEvents, retryEvent } from "#core/events/list-events.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { isId } from "#core/ids.ts";
import { command, listed, UsageError } from "./command.ts";

const COUNT = 100;

const eventList = command({
  name: "event list",
  summary: "Lists the recorded events of repositories, latest first, with the payload that webhooks get.",
  notes: [
    "Events are kept two days longer than their deliveries: 32 days, unless WEBHOOK_KEEP_DAYS says otherwise. Find the events of",
    "a deleted repository by its ID. An event for which no deliveries could be created is set aside, with the reason.",
  ],
  options: {
    repo: { value: "OWNER/NAME", help: "only one repository: its name or its ID" },
    type: { value: repoTypes.join("|"), help: "its type; by default a model", choices: repoTypes },
    limit: { value: "N", help: `how many; by default ${COUNT}, at most 1,000` },
  },
  async run({ repo, type = "model", limit = String(COUNT) }) {
    if (!/^\d{1,9}$/.test(limit)) throw new UsageError("--limit must be a whole number.");
    const events = await listEvents(operatorCommand, {
      limit: Number(limit),
      ...(repo !== undefined && { repoId: await idOf(repo, type as RepoType) }),
    });
    const json = events.map(({ id, scope, action, payload, actorId, source, sourceId, createdAt, fannedOutAt, fanOutError }) => ({
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
    }));
    const lines = events.map((event) => {
      const { id, createdAt, scope, action, payload } = event;
      // An event may have been set aside because its payload is invalid.
      const repo = payload.repo?.name ? `${payload.repo.type} ${payload.repo.name}` : event.repoId;
      return [createdAt.toISOString(), id, `${scope} ${action}`, repo, stateOf(event)];
    });
    return listed({ events: json }, lines, "No events match.");
  },
});

function stateOf({ fannedOutAt, fanOutError }: ListedEvent): string {
  if (fanOutError !== null) return `set aside: ${fanOutError}`;
  return fannedOutAt ? "fanned out" : "waiting";
}

const eventRetry = command({
  name: "event retry",
  summary: "Retries an event that was set aside, after you have fixed the cause.",
  options: { id: { value: "ID", help: 'the event, as "event list" prints it', isRequired: true } },
  async run({ id }) {
    await retryEvent(operatorCommand, id);
    return { json: { id }, text: "The worker now creates its deliveries." };
  },
});

async function idOf(repo: string, type: RepoType): Promise<string> {
  const isOwnId: boolean = isId(repo);
  if (isOwnId) return repo;
  const [owner, name, ...rest] = repo.split("/");
  if (!owner || !name || rest.length > 0) throw new UsageError("Specify --repo as OWNER/NAME or as an ID.");
  return (await findRepo(operatorCommand, { type, owner, name })).id;
}

export const eventCommands = [eventList, eventRetry];
