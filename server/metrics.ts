import type { IncomingMessage, ServerResponse } from "node:http";
import { isServiceError } from "#core/errors.ts";
import { readMetrics } from "#core/operations/metrics/read-metrics.ts";
import { sendJson } from "./send.ts";

/** `GET /metrics`: metrics for Prometheus, if METRICS_TOKEN is set, for its holder. */
export async function sendMetrics(req: IncomingMessage, res: ServerResponse): Promise<void> {
  try {
    const { contentType, text } = await readMetrics(req.headers.authorization);
    res.writeHead(200, { "Content-Type": contentType, "Cache-Control": "no-store" }).end(text);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    if (error.code === "unauthorized") res.setHeader("WWW-Authenticate", "Bearer");
    sendJson(res, error.status, { error: error.code, error_description: error.message });
  }
}
