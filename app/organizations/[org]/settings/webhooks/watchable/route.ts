export { answerWatchable as GET } from "../../../../../_server/webhooks/answer-watchable.ts";
