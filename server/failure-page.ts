import type { IncomingMessage } from "node:http";
import { env } from "#core/env.ts";
import { type Failure, requestContext } from "#core/log.ts";
import { escapeHtml, htmlPage } from "#core/oauth/pages/layout.ts";
import { parseTarget } from "./parse-target.ts";

/** A field of a form as it was sent. */
export type TypedField = { name: string; value: string };

/** Messages for users, where a sentence for programs will not do. */
const explanations = new Map(
  Object.entries({
    server_error: {
      title: "Something went wrong on our side",
      text: "It is not your fault, and it is written down. Often it works at the second try.",
    },
    unavailable: {
      title: "Not reachable for a moment",
      text: "The service cannot reach its database. Nothing is lost: try again in a few seconds.",
    },
    stale_form: {
      title: "This form is from before an update",
      text: "The service was updated while you had the page open. Nothing was changed: open the page again, and send the form once more.",
    },
    unreadable_form: {
      title: "This form could not be read",
      text: "Nothing was changed. Open the page again, and send the form once more.",
    },
  }),
);

/**
 * A page that replaces one that failed. It is made without Next and without the database, either of which may be what failed, and shows the
 * id under which the log has the cause.
 */
export function failurePage(req: IncomingMessage, { status, error, description }: Failure, typed: TypedField[] = []): string {
  const { BRAND_NAME, ORIGIN } = env();
  const explained = explanations.get(error);
  const title = explained?.title ?? description;
  const text = explained?.text ?? `${BRAND_NAME} answered with status ${status}.`;
  const requestId = requestContext.getStore()?.requestId;
  return htmlPage(
    title,
    `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>${typedFields(typed)}
<p class="actions">${wayBack(req)}<a class="button" href="${escapeHtml(ORIGIN)}/">Go to the start</a></p>
${requestId ? `<p class="muted">If you report it, name this: <code>${escapeHtml(requestId)}</code></p>` : ""}`,
    chosenTheme(req),
  );
}

/** A link to the page itself; a form is never resubmitted automatically, since nobody knows how far it got. */
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
  const rows = fields.map(({ name, value }) => `<dt>${escapeHtml(spoken(name))}</dt><dd>${escapeHtml(value)}</dd>`);
  return `<h2>What you had filled in, to copy from</h2><dl>${rows.join("")}</dl>`;
}

/** A field's name as words: `redirectUris` as "Redirect uris". */
function spoken(name: string): string {
  const words = name.replace(/[_-]+|(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The choice stored by app/_server/theme.ts. */
function chosenTheme({ headers }: IncomingMessage): "light" | "dark" | undefined {
  const [, theme] = /(?:^|;\s*)theme=(light|dark)\s*(?:;|$)/.exec(headers.cookie ?? "") ?? [];
  return theme as "light" | "dark" | undefined;
}
