import { html } from "hono/html";
import { clientId, DOCUMENT_PATH, type metadataDocument } from "./metadata-document.ts";
import type { Profile, SignedIn } from "./session.ts";
import type { Settings } from "./settings.ts";

type Html = ReturnType<typeof html>;
type Look = Settings & { document: ReturnType<typeof metadataDocument> };
type ApiResult = { answer: unknown } | { isRefused: true };

/** What to tell a person about an error code. The words are ours: nothing that came in a URL is repeated on the page. */
const EXPLANATIONS: Record<string, [title: string, text: string]> = {
  access_denied: ["You did not authorize this site", "Nothing was shared. You can sign in at any other time."],
  unknown_state: ["This sign-in was not begun here", "It was begun in another browser, too long ago, or answered already."],
  unreachable: ["No answer", "The service that says who you are cannot be reached just now. Try again in a moment."],
};

export function homePage(look: Look, signedIn: SignedIn | undefined, result?: ApiResult): Html {
  if (!signedIn) {
    return page(
      look,
      "Welcome",
      html`<section class="hero">
          <p class="eyebrow">Field notes from the water’s edge</p>
          <h1>What did you see this morning?</h1>
          <p class="lead">Write it down where you stand, and find it again next spring. Your notebook opens with the account you have.</p>
          <p>${signInButton(look)}</p>
        </section>
        ${documentCard(look)}`,
    );
  }
  const name = signedIn.profile.name ?? signedIn.profile.preferred_username ?? "somebody";
  return page(
    look,
    "Signed in",
    html`<h1>Hello, ${name}</h1>
      ${result && apiResult(result)} ${profileCard(signedIn.profile)} ${accessCard(signedIn)} ${documentCard(look)}`,
    html`<form method="post" action="/sign-out"><button class="button">Sign out</button></form>`,
  );
}

export function errorPage(look: Look, code: string): Html {
  const [title, text] = EXPLANATIONS[code] ?? [
    "Signing in did not work",
    "Try again; if it happens again, tell the people who run this site.",
  ];
  return page(
    look,
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

function accessCard({ scopes, expiresAt }: SignedIn): Html {
  return html`<section class="card" aria-labelledby="access">
    <h2 id="access">Access</h2>
    <p>Scopes granted:</p>
    <ul class="chips">
      ${scopes.map((scope) => html`<li>${scope}</li>`)}
    </ul>
    ${expiresAt && html`<p class="muted">Until <time datetime="${expiresAt.toISOString()}">${expiresAt.toUTCString()}</time></p>`}
    <form method="post" action="/call-api"><button class="button button-primary">Call the API</button></form>
  </section>`;
}

function apiResult(result: ApiResult): Html {
  if ("isRefused" in result) {
    return html`<section class="card bad" aria-labelledby="api">
      <h2 id="api">Access has ended</h2>
      <p>The API no longer accepts this site’s token. Sign in again if you want to go on.</p>
    </section>`;
  }
  return html`<section class="card good" aria-labelledby="api">
    <h2 id="api">The API answered</h2>
    <pre>${JSON.stringify(result.answer, null, 2)}</pre>
  </section>`;
}

/** For the reader of this sample: that this is all there is. */
function documentCard(look: Look): Html {
  return html`<details class="card">
    <summary>How ${look.issuerName} knows this site</summary>
    <p>
      It was registered nowhere. Its client ID is the address of a document that it serves itself, and
      ${look.issuerName} reads it when somebody signs in:
    </p>
    <p><a href="${DOCUMENT_PATH}"><code>${clientId(look)}</code></a></p>
    <pre tabindex="0" aria-label="Metadata document">${JSON.stringify(look.document, null, 2)}</pre>
  </details>`;
}

/** A link, not a form: it works without JavaScript, and the address can be opened in another tab. */
function signInButton({ issuerName }: Look): Html {
  return html`<a class="badge" href="/sign-in">
    <img src="/assets/key.svg" alt="" width="20" height="20" />
    Sign in with ${issuerName}
  </a>`;
}

function page({ siteName }: Look, title: string, content: Html, aside?: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · ${siteName}</title>
        <link rel="stylesheet" href="/assets/site.css" />
        <link rel="icon" href="/assets/logo.png" />
      </head>
      <body>
        <header><a class="brand" href="/"><img src="/assets/logo.png" alt="" width="36" height="36" />${siteName}</a>${aside}</header>
        <main>${content}</main>
        <footer>A sample site of Keyhook, registered by nothing but its own metadata document, with <code>openid-client</code>.</footer>
      </body>
    </html>` as Html;
}
