export { answerActivityStream as GET } from "../../../../../_server/webhooks/answer-activity-stream.ts";
