import { html } from "hono/html";
import type { Profile, SignedIn } from "./session.ts";

type Html = ReturnType<typeof html>;
type Look = { issuerName: string; knownOrganizations: { id: string; name: string }[] };
type ApiResult = { answer: unknown } | { isRevoked: true };

/** What the button asks for. */
export const USUAL_SCOPES = ["openid", "profile", "email", "read-repos"];

const SCOPE_LABELS: Record<string, string> = {
  email: "E-mail address",
  "read-repos": "Read repositories",
  "write-discussions": "Open discussions",
  offline_access: "Stay signed in",
};

/** What to tell a person about an error code. The words are ours: nothing that came in a URL is repeated on the page. */
const EXPLANATIONS: Record<string, [title: string, text: string]> = {
  access_denied: ["You did not authorize Paper Lantern", "Nothing was shared. You can sign in at any other time."],
  login_required: [
    "You are not signed in there",
    "We asked without showing you a page, and that works only while you are signed in.",
  ],
  consent_required: ["Your consent is needed", "We asked without showing you a page, and there was something to decide."],
  invalid_grant: ["Access was revoked", "Sign in again if you want to go on."],
  unknown_state: ["This sign-in was not begun here", "It was begun in another browser, too long ago, or answered already."],
  unreachable: ["No answer", "The service that says who you are cannot be reached just now. Try again in a moment."],
};

export function homePage(look: Look, signedIn: SignedIn | undefined, result?: ApiResult): Html {
  return page(
    signedIn ? "Signed in" : "Welcome",
    signedIn
      ? html`<h1>Hello, ${signedIn.profile.name ?? signedIn.profile.preferred_username ?? "somebody"}</h1>
          ${result && apiResult(result)} ${profileCard(signedIn.profile)} ${accessCard(signedIn)} ${askCard(look, signedIn)}`
      : html`<h1>Reading lists that travel with you</h1>
          <p class="lead">Paper Lantern is a sample site. It signs you in on its server and never sees your password.</p>
          <p>${signInButton(look)}</p>
          ${askCard(look, undefined)}`,
    signedIn && html`<form method="post" action="/sign-out"><button class="button">Sign out</button></form>`,
  );
}

export function errorPage(look: Look, code: string): Html {
  const [title, text] = EXPLANATIONS[code] ?? [
    "Signing in did not work",
    "Try again; if it happens again, tell the people who run this site.",
  ];
  return page(
    title,
    html`<h1>${title}</h1>
      <p class="lead">${text}</p>
      <p>${signInButton(look)}</p>
      <p class="muted">Error code: <code>${code in EXPLANATIONS ? code : "other"}</code></p>`,
  );
}

function profileCard({ name, preferred_username, picture, email, organizations = [] }: Profile): Html {
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

function accessCard({ scopes, expiresAt, refreshToken }: SignedIn): Html {
  return html`<section class="card" aria-labelledby="access">
    <h2 id="access">Access</h2>
    <p>Scopes granted:</p>
    <ul class="chips">
      ${scopes.map((scope) => html`<li>${scope}</li>`)}
    </ul>
    ${expiresAt && html`<p class="muted">Until <time datetime="${expiresAt.toISOString()}">${expiresAt.toUTCString()}</time></p>`}
    <div class="row">
      <form method="post" action="/call-api"><button class="button button-primary">Call the API</button></form>
      ${refreshToken && html`<form method="post" action="/renew"><button class="button">Renew the access</button></form>`}
    </div>
  </section>`;
}

function apiResult(result: ApiResult): Html {
  if ("isRevoked" in result) {
    return html`<section class="card bad" aria-labelledby="api">
      <h2 id="api">Access was revoked</h2>
      <p>The API no longer accepts this site's token. Sign in again if you want to go on.</p>
    </section>`;
  }
  return html`<section class="card good" aria-labelledby="api">
    <h2 id="api">The API answered</h2>
    <pre>${JSON.stringify(result.answer, null, 2)}</pre>
  </section>`;
}

function askCard({ knownOrganizations }: Look, signedIn: SignedIn | undefined): Html {
  const ticked = signedIn?.scopes ?? USUAL_SCOPES;
  return html`<details class="card" ${signedIn ? "open" : ""}>
    <summary>${signedIn ? "Ask for more" : "Ask differently"}</summary>
    <form action="/sign-in">
      <input type="hidden" name="scope" value="openid" />
      <fieldset>
        <legend>Scopes</legend>
        ${Object.entries(SCOPE_LABELS).map(
          ([scope, label]) => html`<label class="check">
            <input type="checkbox" name="scope" value="${scope}" ${ticked.includes(scope) ? "checked" : ""} /> ${label}
          </label>`,
        )}
      </fieldset>
      <label class="stack" for="organization">Organization ID</label>
      <input id="organization" name="organization" list="known" autocomplete="off" spellcheck="false" />
      <datalist id="known">
        ${knownOrganizations.map(({ id, name }) => html`<option value="${id}">${name}</option>`)}
      </datalist>
      <label class="stack" for="prompt">Show a page</label>
      <select id="prompt" name="prompt">
        <option value="">when needed</option>
        <option value="consent">always, to decide anew</option>
        <option value="login">always, to sign in anew</option>
        <option value="none">never</option>
      </select>
      <p><button class="button">Ask</button></p>
    </form>
  </details>`;
}

/** A link, not a form: it works without JavaScript, and the address can be opened in another tab. */
function signInButton({ issuerName }: Look): Html {
  return html`<a class="badge" href="/sign-in">
    <img src="/assets/key.svg" alt="" width="20" height="20" />
    Sign in with ${issuerName}
  </a>`;
}

function page(title: string, content: Html, aside?: Html): Html {
  return html`<!doctype html>
    <html lang="en" class="lantern">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Paper Lantern</title>
        <link rel="stylesheet" href="/assets/site.css" />
        <link rel="icon" href="/assets/lantern.svg" />
      </head>
      <body>
        <header><a class="brand" href="/"><img src="/assets/lantern.svg" alt="" width="32" height="32" />Paper Lantern</a>${aside}</header>
        <main>${content}</main>
        <footer>A sample site of Keyhook, which signs people in on its server, with <code>openid-client</code>.</footer>
      </body>
    </html>` as Html;
}
