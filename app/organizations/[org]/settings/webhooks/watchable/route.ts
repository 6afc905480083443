import { answerWatchable } from "../../../../../_server/webhooks/answer-watchable.ts";

/** What the line of the form completes. */
export const GET = (request: Request): Promise<Response> => answerWatchable(request);
