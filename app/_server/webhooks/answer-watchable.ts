import { isRepoType } from "@keyhook/sdk";
import { type Person, personActor } from "#core/access/actor.ts";
import { searchHandles } from "#core/accounts/handles/find-owner.ts";
import { isServiceError } from "#core/errors.ts";
import { listRepos } from "#core/hub/repos/list-repos.ts";
import { searchOf } from "../page-query.ts";
import { currentSession } from "../session.ts";

export async function answerWatchable(request: Request): Promise<Response> {
  const session = await currentSession();
  if (!session) return Response.json({ items: [] }, { status: 401, headers: { "Cache-Control": "no-store" } });
  const typed = searchOf(new URL(request.url).searchParams.get("search") ?? "");
  return Response.json({ items: await findWatchable(personActor(session), typed) }, { headers: { "Cache-Control": "no-store" } });
}

type FoundWatchable = { item: string; fullName?: string };

const FOUND_MAX = 8;

async function findWatchable(person: Person, typed: string): Promise<FoundWatchable[]> {
  const [, type = "", text = ""] = /^(?:(user|org|model|dataset|space):)?(.*)$/s.exec(typed.trim()) ?? [];
  const isOfRepos = isRepoType(type);
  const [owners, repos] = await Promise.all([
    isOfRepos || text.includes("/") ? [] : searchHandles(text, { limit: FOUND_MAX, ...kindOf(type) }),
    type === "user" || type === "org" || text === "" ? [] : reposNamed(person, text, isOfRepos ? type : undefined),
  ]);
  const found = [
    ...owners.map(({ kind, handle, fullName }) => ({ item: `${kind === "user" ? "user" : "org"}:${handle}`, fullName })),
    ...repos,
  ];
  // Neither owners nor repositories may fill the whole list.
  const half = Math.max(FOUND_MAX / 2, FOUND_MAX - repos.length);
  return found.filter((_, index) => index < half || index >= owners.length).slice(0, FOUND_MAX);
}

function kindOf(type: string): { kind?: "user" | "organization" } {
  return type === "user" ? { kind: "user" } : type === "org" ? { kind: "organization" } : {};
}

async function reposNamed(person: Person, search: string, type?: "model" | "dataset" | "space"): Promise<FoundWatchable[]> {
  try {
    const { repos } = await listRepos(person, { search, limit: FOUND_MAX, ...(type && { type }) });
    return repos.map((repo) => ({ item: `${repo.type}:${repo.owner.handle}/${repo.name}` }));
  } catch (error) {
    // Text that cannot be a name has no results.
    if (isServiceError(error) && error.code === "invalid_request") return [];
    throw error;
  }
}
