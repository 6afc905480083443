import { html } from "hono/html";

/** To learn how sign-in works, you can skip this file. */
export type Html = ReturnType<typeof html>;

export type Frame = { className: "lantern" | "heron"; name: string; logo: string; footer: Html; issuerName: string };

export type Profile = {
  name?: string;
  preferred_username?: string;
  picture?: string;
  email?: string;
  organizations?: { name: string; roleInOrg?: string }[];
};

export function page({ className, name, logo, footer }: Frame, title: string, content: Html, aside?: Html): Html {
  return html`<!doctype html>
    <html lang="en" class="${className}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · ${name}</title>
        <link rel="stylesheet" href="/assets/site.css" />
        <link rel="icon" href="${logo}" />
      </head>
      <body>
        <header><a class="brand" href="/"><img src="${logo}" alt="" width="34" height="34" />${name}</a>${aside}</header>
        <main>${content}</main>
        <footer>${footer}</footer>
      </body>
    </html>` as Html;
}

/** Titles and texts by error code. The page never repeats text from a URL. */
export type Explanations = Record<string, [title: string, text: string]>;

export function errorPage(frame: Frame, explanations: Explanations, code: string): Html {
  const [title, text] = (Object.hasOwn(explanations, code) && explanations[code]) || [
    "Sign-in failed",
    "Try again; if it happens again, contact this site.",
  ];
  return page(
    frame,
    title,
    html`<h1>${title}</h1>
      <p class="lead">${text}</p>
      <p>${signInButton(frame)}</p>
      <p class="muted">Error code: <code>${Object.hasOwn(explanations, code) ? code : "other"}</code></p>`,
  );
}

/** The button is a link, not a form, so that it can be opened in another tab. */
export function signInButton({ issuerName }: Frame): Html {
  return html`<a class="badge" href="/sign-in">
    <img src="/assets/keyhook.svg" alt="" width="20" height="20" />
    Sign in with ${issuerName}
  </a>`;
}

export const signOutButton = (): Html =>
  html`<form method="post" action="/sign-out"><button class="button">Sign out</button></form>`;

export function profileCard({ name, preferred_username, picture, email, organizations = [] }: Profile): Html {
  return html`<section class="card" aria-labelledby="profile">
    <h2 id="profile">Profile</h2>
    <div class="person">
      ${picture && html`<img src="${picture}" alt="" width="48" height="48" />`}
      <p>${name}<br /><span class="muted">${preferred_username}</span></p>
    </div>
    <dl>
      <dt>E-mail address</dt>
      <dd>${email ?? html`<span class="muted">not shared</span>`}</dd>
      <dt>Organizations</dt>
      <dd>
        ${
          organizations.length === 0
            ? html`<span class="muted">none shared</span>`
            : html`<ul>
                ${organizations.map(({ name, roleInOrg }) => html`<li>${name} ${roleInOrg && html`<span class="muted">${roleInOrg}</span>`}</li>`)}
              </ul>`
        }
      </dd>
    </dl>
  </section>`;
}

const timeFormat = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long", timeZone: "UTC" });

/** @param more buttons beside "Call the API" */
export function accessCard({ scopes, expiresAt }: { scopes: string[]; expiresAt: Date | undefined }, more?: Html): Html {
  return html`<section class="card" aria-labelledby="access">
    <h2 id="access">Access</h2>
    <p>Scopes granted:</p>
    <ul class="chips">
      ${scopes.map((scope) => html`<li>${scope}</li>`)}
    </ul>
    ${expiresAt && html`<p class="muted">Until <time datetime="${expiresAt.toISOString()}">${timeFormat.format(expiresAt)}</time></p>`}
    <div class="row">
      <form method="post" action="/call-api"><button class="button button-primary">Call the API</button></form>
      ${more}
    </div>
  </section>`;
}

export type ApiResult = { answer: unknown } | { isRefused: true };

export function apiResult(result: ApiResult, refusal = "Access was revoked"): Html {
  if ("isRefused" in result) {
    return html`<section class="card bad" aria-labelledby="api">
      <h2 id="api">${refusal}</h2>
      <p>The API no longer accepts this site’s token. Sign in again to continue.</p>
    </section>`;
  }
  return html`<section class="card good" aria-labelledby="api">
    <h2 id="api">The API responded</h2>
    <pre>${JSON.stringify(result.answer, null, 2)}</pre>
  </section>`;
}
