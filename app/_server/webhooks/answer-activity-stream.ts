import { findOrganizationByName } from "#core/accounts/organizations/find-organization.ts";
import { isServiceError, notFound, ServiceError } from "#core/errors.ts";
import { EVENT_STREAM_HEADERS, streamActivity } from "#core/webhooks/activity/stream-activity.ts";
import { currentSession, personAskedAnew } from "../session.ts";
import type { WebhookHome } from "./webhook-paths.ts";

/** What happens to a webhook's deliveries as server-sent events, for as long as the session lasts and the webhook may be read. */
export async function answerActivityStream(request: Request, home: WebhookHome, webhookId: string): Promise<Response> {
  try {
    const ownerId = await ownerIdOf(home);
    const query = new URL(request.url).searchParams;
    const body = await streamActivity({
      actorNow: await personAskedAnew(),
      webhookId,
      ownerId,
      after: request.headers.get("last-event-id") ?? query.get("tail") ?? undefined,
      signal: request.signal,
    });
    return new Response(body, { headers: EVENT_STREAM_HEADERS });
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return new Response(`${error.message}\n`, {
      status: error.status,
      headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
    });
  }
}

async function ownerIdOf(home: WebhookHome): Promise<string> {
  if (home !== null) return (await findOrganizationByName(home))?.id ?? Promise.reject(notFound("Webhook"));
  const session = await currentSession();
  if (!session) throw new ServiceError("unauthorized", "Sign in to see this.");
  return session.userId;
}
