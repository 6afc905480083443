import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type Received = { method: string; path: string; headers: IncomingMessage["headers"]; body: Record<string, unknown> };

type Answer = (req: IncomingMessage, res: ServerResponse, body: Record<string, unknown>) => unknown;

export async function startUpstream() {
  const received: Received[] = [];
  const state = { answer: answerUsually as Answer, open: 0, ended: 0 };
  const server = createServer(async (req, res) => {
    state.open++;
    res.on("close", () => {
      state.open--;
      if (!res.writableFinished) state.ended++;
    });
    const sent = await text(req).catch(() => "");
    const body = sent ? (JSON.parse(sent) as Record<string, unknown>) : {};
    received.push({ method: req.method ?? "", path: req.url ?? "", headers: req.headers, body });
    await state.answer(req, res, body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    received,
    state,
    answers: (answer: Answer = answerUsually) => {
      state.answer = answer;
      received.length = 0;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
export const WORDS = ["The ", "tide ", "turns."];

export function answerUsually(req: IncomingMessage, res: ServerResponse, body: Record<string, unknown>): unknown {
  if (req.url === "/v1/models") return json(res, { object: "list", data: [{ id: "tide-upstream" }, { id: "other" }] });
  if (req.url === "/v1/embeddings") {
    const usage = { prompt_tokens: 5, total_tokens: 5 };
    return json(res, {
      object: "list",
      model: body.model,
      data: [{ object: "embedding", index: 0, embedding: [0.25, -1] }],
      usage,
    });
  }
  if (req.url === "/v1/responses") return answerResponses(res, body);
  const isChat = req.url === "/v1/chat/completions";
  const choice = isChat ? { message: { role: "assistant", content: WORDS.join("") } } : { text: WORDS.join("") };
  if (!body.stream)
    return json(res, { id: "c1", model: body.model, choices: [{ index: 0, ...choice, finish_reason: "stop" }], usage: USAGE });
  res.setHeader("content-type", "text/event-stream");
  for (const line of chunks(body)) res.write(line);
  return res.end("data: [DONE]\n\n");
}

/** If usage was requested, each event has `usage: null` and the last one has the count of tokens. */
export function chunks(body: Record<string, unknown>, words = WORDS): string[] {
  const isCounted = Object(body.stream_options).include_usage === true;
  const chunk = (choices: unknown[], usage: unknown = null) =>
    `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", model: body.model, choices, ...(isCounted && { usage }) })}\n\n`;
  return [
    ...words.map((content) => chunk([{ index: 0, delta: { content }, text: content }])),
    chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
    ...(isCounted ? [chunk([], USAGE)] : []),
  ];
}

function answerResponses(res: ServerResponse, body: Record<string, unknown>): unknown {
  const response = { id: "r1", object: "response", model: body.model, output: [], usage: { input_tokens: 9, output_tokens: 4 } };
  if (!body.stream) return json(res, response);
  const event = (data: Record<string, unknown>) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  res.setHeader("content-type", "text/event-stream");
  for (const delta of WORDS) res.write(event({ type: "response.output_text.delta", delta }));
  return res.end(event({ type: "response.completed", response }));
}

export function json(res: ServerResponse, body: unknown, status = 200): void {
  res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
