import type { RelayAnswer, RelayedRequest } from "@keyhook/sdk";
import type { Printer } from "../../output/printer.ts";

type Handle = (request: RelayedRequest) => Promise<RelayAnswer> | RelayAnswer;

/** Says of each request what it was, how it was answered and how long that took. */
export function printRequests(print: Printer, handle: Handle): Handle {
  return async (request) => {
    const startedAt = Date.now();
    const answer = await handle(request);
    print.row({
      delivery: header(request, "webhook-id") ?? request.id,
      time: new Date(startedAt).toISOString(),
      method: request.method,
      path: request.path || "/",
      event: eventOf(request),
      status: answer.status,
      ms: Date.now() - startedAt,
    });
    if (answer.status === 502 && print.format === "human") print.note(`Nothing answered: ${textOf(answer)}`);
    return answer;
  };
}

const header = ({ headers }: RelayedRequest, name: string): string | undefined =>
  headers.find(([one]) => one.toLowerCase() === name)?.[1];

/** Of a payload; other requests that come have none. */
function eventOf({ body }: RelayedRequest): string | undefined {
  try {
    const { event, repo } = JSON.parse(new TextDecoder().decode(body));
    return typeof event?.scope === "string" ? `${event.scope}.${event.action} ${repo?.type}:${repo?.name}` : undefined;
  } catch {
    return undefined;
  }
}

const textOf = ({ body }: RelayAnswer): string =>
  (typeof body === "string" ? body : new TextDecoder().decode(body)).slice(0, 300);
