import { personActor } from "#core/access/actor.ts";
import { searchOf } from "../page-query.ts";
import { currentSession } from "../session.ts";
import { findWatchable } from "./find-watchable.ts";

/** `{items}`: what somebody could watch, for what they have typed so far. */
export async function answerWatchable(request: Request): Promise<Response> {
  const session = await currentSession();
  if (!session) return Response.json({ items: [] }, { status: 401, headers: { "Cache-Control": "no-store" } });
  const typed = searchOf(new URL(request.url).searchParams.get("search") ?? "");
  return Response.json({ items: await findWatchable(personActor(session), typed) }, { headers: { "Cache-Control": "no-store" } });
}
