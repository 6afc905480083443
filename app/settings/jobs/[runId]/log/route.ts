export { answerRunLog as GET } from "../../../../_server/jobs/answer-run-log.ts";
