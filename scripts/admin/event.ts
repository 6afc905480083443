import { type RepoType, repoTypes } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { listEvents } from "#core/events/list-events.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { isId } from "#core/ids.ts";
import { command, UsageError } from "./command.ts";

const COUNT = 100;

export const eventList = command({
  name: "event list",
  summary: "Lists what was recorded of repositories, the latest first, with the payload that webhooks get.",
  notes: ["Events are kept for 30 days. Those of a repository that was deleted are found by the id that it had."],
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
        events: events.map(({ id, scope, action, payload, actorId, source, sourceId, createdAt }) => ({
          id,
          created_at: createdAt.toISOString(),
          scope,
          action,
          actor_id: actorId,
          source,
          source_id: sourceId,
          payload,
        })),
      },
      text:
        events
          .map(({ id, createdAt, scope, action, payload: { repo } }) =>
            [createdAt.toISOString(), id, `${scope} ${action}`, `${repo.type} ${repo.name}`].join("\t"),
          )
          .join("\n") || "Nothing was recorded.",
    };
  },
});

async function idOf(repo: string, type: RepoType): Promise<string> {
  const isOwnId: boolean = isId(repo);
  if (isOwnId) return repo;
  const [owner, name, ...rest] = repo.split("/");
  if (!owner || !name || rest.length > 0) throw new UsageError("Write --repo as OWNER/NAME.");
  return (await findRepo(operatorCommand, { type, owner, name })).id;
}
