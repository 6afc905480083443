import { answerRunLog } from "../../../../../../_server/jobs/answer-run-log.ts";

type Context = Readonly<{ params: Promise<{ org: string; runId: string }> }>;

export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { org, runId } = await params;
  return answerRunLog(request, org, runId);
}
