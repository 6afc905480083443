import { explainRedirectUri } from "@keyhook/sdk";
import type { KoaContextWithOIDC } from "oidc-provider";
import { personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { isDocumentAddress } from "../documents/document-address.ts";
import { isPersonEndpoint } from "../protocol-routes.ts";
import { siteSessionOf } from "../site-session.ts";
import { escapeHtml, htmlPage } from "./layout.ts";

type Problem = {
  error: string;
  description?: string;
  /** Only for those who may know what the app has registered. */
  ownerDetail?: string;
};

const sentences = new Map(
  Object.entries({
    invalid_client: {
      title: "This app is not known here",
      text: "The link that brought you here names an app that does not exist, or no longer does.",
    },
    invalid_redirect_uri: {
      title: "This app cannot receive you",
      text: "It asked to send you back to an address that its developer has not registered. To protect you, nothing was sent there.",
    },
    invalid_client_metadata: {
      title: "This app cannot be identified",
      text: "It is known by a document on its own website, and that document could not be used. Tell the app's developer what stands below.",
    },
    unauthorized_client: {
      title: "This app is not allowed here",
      text: "Whoever runs this service decides which apps may sign people in. Nothing was sent to the app.",
    },
    temporarily_unavailable: {
      title: "Not possible for a moment",
      text: "The service is busy, or cannot reach something that it needs. Nothing is lost: try again in a few seconds.",
    },
    server_error: { title: "Something went wrong on our side", text: "It has been noted. Try again in a moment." },
    invalid_request_uri: {
      title: "This sign-in link has run out",
      text: "It is good for one sign-in and for a minute only. Go back to the app and start again.",
    },
    session_not_found: {
      title: "This sign-in has run out",
      text: "It was finished in another tab, or left open too long. Go back to the app and start again.",
    },
  }),
);

const otherwise = {
  title: "This sign-in link is not right",
  text: "The app sent a request that cannot be answered. Tell its developer what stands below.",
};

const RECEIVED_MAX_CHARACTERS = 2000;

/** The caller sets the status; the page never links to a URL from the request (S20). */
export function errorPage({ error, description, ownerDetail }: Problem): string {
  const { title, text } = sentences.get(error) ?? otherwise;
  const detail = [error, description].filter(Boolean).join(": ");
  return htmlPage(
    title,
    `<h1>${title}</h1><p>${text}</p>
<pre><code>${escapeHtml(detail)}${ownerDetail ? `\n\n${escapeHtml(ownerDetail)}` : ""}</code></pre>
<p class="muted"><a href="${escapeHtml(env().ORIGIN)}/">Back to ${escapeHtml(env().BRAND_NAME)}</a></p>`,
  );
}

/** The engine's `renderError`: a page for a person, the RFC's JSON body for a program. */
export async function renderErrorPage(
  ctx: KoaContextWithOIDC,
  out: { error: string; error_description?: string },
): Promise<void> {
  if (!isPersonEndpoint(ctx.path)) {
    ctx.body = out;
    return;
  }
  const isRunOut = out.error === "invalid_request" && ctx.path.startsWith("/oauth/authorize/");
  const isAddress = out.error === "invalid_redirect_uri";
  ctx.type = "html";
  ctx.body = errorPage({
    error: isRunOut ? "session_not_found" : out.error,
    description: (isAddress && brokenRule(ctx)) || out.error_description,
    ownerDetail: isAddress ? await redirectUriDetail(ctx) : undefined,
  });
}

/** The rule that a URI breaks, whoever registered it; undefined if it is valid and only not registered. */
function brokenRule({ oidc }: KoaContextWithOIDC): string | undefined {
  return explainRedirectUri(String(oidc.params?.redirect_uri ?? ""), { ownOrigin: env().ORIGIN });
}

/**
 * The app's owner sees the received URI beside the registered ones; others see only the rule
 * (docs/specification/oauth.md#authorization-request). A metadata document's list is public.
 */
async function redirectUriDetail(ctx: KoaContextWithOIDC): Promise<string | undefined> {
  const { client, params } = ctx.oidc;
  if (!client || !(isDocumentAddress(client.clientId) || (await isManager(ctx, client.clientId)))) return undefined;
  const registered = (client.redirectUris ?? []).map((uri) => `  ${uri}`).join("\n");
  return `received:\n  ${legible(String(params?.redirect_uri))}\nregistered:\n${registered}`;
}

async function isManager(ctx: KoaContextWithOIDC, clientId: string): Promise<boolean> {
  const session = await siteSessionOf(ctx).catch(() => undefined);
  const app = session && (await db().oAuthApp.findUnique({ where: { clientId } }));
  return app ? may(personActor(session), "oauth_app.read", app) : false;
}

/** Nonprinting characters, or those that reverse text, would hide the very difference that the owner is looking for. */
function legible(text: string): string {
  return text.slice(0, RECEIVED_MAX_CHARACTERS).replace(/[^\x20-\x7e]/g, "\u{fffd}");
}
