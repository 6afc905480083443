import { findOrganizationByName } from "#core/accounts/organizations/find-organization.ts";
import { isServiceError, notFound, ServiceError } from "#core/errors.ts";
import { EVENT_STREAM_HEADERS, streamActivity } from "#core/webhooks/activity/stream-activity.ts";
import type { OwnerPageProps } from "../owner-page.ts";
import type { OwnerName } from "../paths.ts";
import { currentSession, personLookup } from "../session.ts";

export async function answerActivityStream(
  request: Request,
  { params }: Pick<OwnerPageProps<{ webhookId: string }>, "params">,
): Promise<Response> {
  const { org: home = null, webhookId } = await params;
  try {
    const ownerId = await ownerIdOf(home);
    const query = new URL(request.url).searchParams;
    const body = await streamActivity({
      actorNow: await personLookup(),
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

async function ownerIdOf(home: OwnerName): Promise<string> {
  if (home !== null) return (await findOrganizationByName(home))?.id ?? Promise.reject(notFound("Webhook"));
  const session = await currentSession();
  if (!session) throw new ServiceError("unauthorized", "Sign in to see this.");
  return session.userId;
}
