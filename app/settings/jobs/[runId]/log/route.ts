import { answerRunLog } from "../../../../_server/jobs/answer-run-log.ts";

type Context = Readonly<{ params: Promise<{ runId: string }> }>;

export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { runId } = await params;
  return answerRunLog(request, null, runId);
}
