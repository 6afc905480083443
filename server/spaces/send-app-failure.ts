import type { IncomingMessage, ServerResponse } from "node:http";
import { env } from "#core/env.ts";
import { requestContext } from "#core/log.ts";
import { escapeHtml, htmlPage } from "#core/oauth/pages/layout.ts";
import { sandboxHeaders } from "#core/spaces/door/app-headers.ts";
import { discardRest } from "../send.ts";

export type AppFailure = {
  status: number;
  error: string;
  title: string;
  text: string;
  /** Seconds after which a browser retries by itself. */
  retryAfter?: number;
  pagePath?: string;
  mayNeedSignIn?: boolean;
};

/** The response has the same sandbox as the app's own responses. */
export function sendAppFailure(req: IncomingMessage, res: ServerResponse, failure: AppFailure): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  discardRest(req);
  const { status, error, title, text, retryAfter } = failure;
  const headers = {
    ...sandboxHeaders,
    "Cache-Control": "no-store",
    ...(retryAfter !== undefined && { "Retry-After": String(retryAfter) }),
  };
  if (!req.headers.accept?.includes("text/html")) {
    res.writeHead(status, { ...headers, "Content-Type": "application/json; charset=utf-8" });
    res.end(JSON.stringify({ error, error_description: `${title}. ${text}` }));
    return;
  }
  const retries = retryAfter !== undefined && (req.method === "GET" || req.method === "HEAD");
  const requestId = requestContext.getStore()?.requestId;
  res.writeHead(status, {
    ...headers,
    "Content-Type": "text/html; charset=utf-8",
    ...(retries && { Refresh: String(retryAfter) }),
  });
  res.end(
    htmlPage(
      title,
      `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>
<p class="actions">${stepsAfter(failure)
        .map(([path, label]) => linkButton(path, label))
        .join("")}</p>
${requestId ? `<p class="muted">If you report this, include: <code>${escapeHtml(requestId)}</code></p>` : ""}`,
    ),
  );
}

const stepsAfter = ({ pagePath, mayNeedSignIn }: AppFailure): ReadonlyArray<readonly [path: string, label: string]> => [
  ...(mayNeedSignIn ? [["/login", "Sign in"] as const] : []),
  pagePath ? [pagePath, "Go to the Space"] : ["/", `Go to ${env().BRAND_NAME}`],
];

/** The app is in a frame, from which the link must lead away. */
const linkButton = (path: string, label: string): string =>
  `<a class="button" target="_top" href="${escapeHtml(env().ORIGIN + path)}">${escapeHtml(label)}</a>`;
