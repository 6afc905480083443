import { explainRedirectUri } from "@keyhook/sdk";
import type { KoaContextWithOIDC } from "oidc-provider";
import { personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { isDocumentAddress } from "../documents/document-address.ts";
import { isPersonEndpoint, isSignOutEndpoint } from "../protocol-routes.ts";
import { siteSessionOf } from "../site-session.ts";
import { escapeHtml, htmlPage } from "./layout.ts";

type Problem = {
  error: string;
  description?: string | undefined;
  facts?: readonly (readonly [term: string, value: string])[];
  settings?: string | undefined;
  isSignOut?: boolean;
};

const ownErrors = new Map(
  Object.entries({
    temporarily_unavailable: {
      title: "Temporarily unavailable",
      text: "The service is busy, or cannot reach something that it depends on. Nothing was lost: try again in a few seconds.",
    },
    server_error: { title: "Something went wrong on our side", text: "The error has been logged. Try again in a moment." },
  }),
);

const sentences = new Map(
  Object.entries({
    invalid_client: {
      title: "Unknown app",
      text: "The link that brought you here names an app that does not exist, or no longer does.",
    },
    invalid_redirect_uri: {
      title: "This app's redirect URI is not registered",
      text: "The app asked to send you to a URI that its developer has not registered. To protect you, nothing was sent there.",
    },
    invalid_client_metadata: {
      title: "This app cannot be identified",
      text: "The app is described by a document on its own website, and that document cannot be used. Show its developer the details below.",
    },
    unauthorized_client: {
      title: "This app is not allowed here",
      text: "The operator of this service decides which apps can sign users in. Nothing was sent to the app.",
    },
    invalid_request_uri: {
      title: "This sign-in link has expired",
      text: "It works only once, and only for a minute. Go back to the app and start again.",
    },
    session_not_found: {
      title: "This sign-in has expired",
      text: "It was completed in another tab, or was left open for too long. Go back to the app and start again.",
    },
  }),
);

const otherwise = {
  title: "Invalid sign-in link",
  text: "The app sent a request that cannot be processed. Show its developer the details below.",
};

const signOut = {
  title: "Invalid sign-out link",
  text: "The app sent a request to sign you out that cannot be processed, so you are still signed in. Show its developer the details below.",
};

const RECEIVED_MAX_CHARACTERS = 2000;

/** See S20. The caller sets the status. */
export function errorPage({ error, description, facts = [], settings, isSignOut = false }: Problem): string {
  const { title, text } = ownErrors.get(error) ?? (isSignOut ? signOut : (sentences.get(error) ?? otherwise));
  const detail = [error, description].filter(Boolean).join(": ");
  const rows = facts.map(([term, value]) => `<dt>${term}</dt><dd><code>${escapeHtml(value)}</code></dd>`);
  const origin = escapeHtml(env().ORIGIN);
  return htmlPage(
    title,
    `<h1>${title}</h1><p>${text}</p>${rows.length > 0 ? `<dl>${rows.join("")}</dl>` : ""}
<pre><code>${escapeHtml(detail)}</code></pre>
<p class="actions">${settings ? `<a class="button primary" href="${origin}${escapeHtml(settings)}">Open the app's settings</a>` : ""}
<a class="button" href="${origin}/">Go to ${escapeHtml(env().BRAND_NAME)}</a></p>`,
  );
}

/** The engine calls this as `renderError`. A user gets a page, and a program the RFC's JSON body. */
export async function renderErrorPage(
  ctx: KoaContextWithOIDC,
  out: { error: string; error_description?: string },
): Promise<void> {
  if (!isPersonEndpoint(ctx.path)) {
    ctx.body = out;
    return;
  }
  const isInteractionEnded = out.error === "invalid_request" && ctx.path.startsWith("/oauth/authorize/");
  const isAddress = out.error === "invalid_redirect_uri";
  ctx.type = "html";
  ctx.body = errorPage({
    error: isInteractionEnded ? "session_not_found" : out.error,
    description: (isAddress && brokenRule(ctx)) || out.error_description,
    isSignOut: isSignOutEndpoint(ctx.path),
    ...(isAddress && (await redirectUriFacts(ctx))),
  });
}

function brokenRule({ oidc }: KoaContextWithOIDC): string | undefined {
  return explainRedirectUri(String(oidc.params?.redirect_uri ?? ""), { ownOrigin: env().ORIGIN });
}

/** A document's redirect URIs are public. Those of any other app are shown only to users who manage the app. */
async function redirectUriFacts(ctx: KoaContextWithOIDC): Promise<Pick<Problem, "facts" | "settings">> {
  const { client, params } = ctx.oidc;
  if (!client) return {};
  const settings = await settingsOf(ctx, client.clientId);
  const registered = settings || isDocumentAddress(client.clientId) ? (client.redirectUris ?? []) : [];
  return {
    facts: [
      ["App", client.clientName ?? client.clientId],
      ["Redirect URI sent", legible(String(params?.redirect_uri))],
      ...(registered.length > 0 ? [["Registered redirect URIs", registered.join("\n")] as const] : []),
    ],
    settings,
  };
}

async function settingsOf(ctx: KoaContextWithOIDC, clientId: string): Promise<string | undefined> {
  const session = await siteSessionOf(ctx).catch(() => undefined);
  const app = session && (await db().oAuthApp.findUnique({ where: { clientId } }));
  if (!app || !(await may(personActor(session), "oauth_app.read", app))) return undefined;
  const { ownerOrgId: id } = app;
  const owner = id && (await db().organization.findUnique({ where: { id }, select: { name: true } }));
  return `${owner ? `/organizations/${owner.name}` : ""}/settings/applications/${app.id}`;
}

/** Invisible characters are replaced: they would hide the difference that the owner is looking for. */
function legible(text: string): string {
  return text.slice(0, RECEIVED_MAX_CHARACTERS).replace(/[^\x20-\x7e]/g, "\u{fffd}");
}
