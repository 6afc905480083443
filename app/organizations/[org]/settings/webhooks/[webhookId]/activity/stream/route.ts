import { answerActivityStream } from "../../../../../../../_server/webhooks/answer-activity-stream.ts";

type Context = Readonly<{ params: Promise<{ org: string; webhookId: string }> }>;

/** The live tail of the page, with its session. */
export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { org, webhookId } = await params;
  return answerActivityStream(request, org, webhookId);
}
