import type { IncomingMessage } from "node:http";
import { env } from "#core/env.ts";
import { type Failure, requestContext } from "#core/log.ts";
import { escapeHtml, htmlPage } from "#core/oauth/pages/layout.ts";
import { parseTarget } from "./read-request.ts";

export type TypedField = { name: string; value: string };

const explanations = new Map(
  Object.entries({
    server_error: {
      title: "Something went wrong on our side",
      text: "The error has been logged. Trying again often helps.",
    },
    unavailable: {
      title: "Temporarily unavailable",
      text: "The service cannot reach its database. Nothing was lost: try again in a few seconds.",
    },
    stale_form: {
      title: "This form is out of date",
      text: "The service was updated while the page was open. Nothing was changed: open the page again and resubmit the form.",
    },
    unreadable_form: {
      title: "This form could not be read",
      text: "Nothing was changed. Open the page again and resubmit the form.",
    },
  }),
);

/** The page needs neither Next nor the database, because one of them may be what failed. */
export function failurePage(req: IncomingMessage, { status, error, description }: Failure, typed: TypedField[] = []): string {
  const { BRAND_NAME, ORIGIN } = env();
  const explained = explanations.get(error);
  const title = explained?.title ?? description;
  const text = explained?.text ?? `${BRAND_NAME} responded with status ${status}.`;
  const requestId = requestContext.getStore()?.requestId;
  return htmlPage(
    title,
    `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>${typedFields(typed)}
<p class="actions">${wayBack(req)}<a class="button" href="${escapeHtml(ORIGIN)}/">Go home</a></p>
${requestId ? `<p class="muted">If you report this, include: <code>${escapeHtml(requestId)}</code></p>` : ""}`,
  );
}

/** A form is not sent again, because part of it may have been processed. */
function wayBack({ method, url }: IncomingMessage): string {
  const target = parseTarget(url);
  if (!target) return "";
  // Two leading slashes would lead to another host.
  const address = target.pathname.replace(/^[/\\]+/, "/") + target.search;
  const label = method === "GET" || method === "HEAD" ? "Try again" : "Open the page again";
  return `<a class="button primary" href="${escapeHtml(address)}">${label}</a>`;
}

function typedFields(fields: TypedField[]): string {
  if (fields.length === 0) return "";
  const rows = fields.map(({ name, value }) => `<dt>${escapeHtml(labelOf(name))}</dt><dd>${escapeHtml(value)}</dd>`);
  return `<h2>What you entered, for you to copy</h2><dl>${rows.join("")}</dl>`;
}

function labelOf(name: string): string {
  const words = name.replace(/[_-]+|(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
