import { html } from "hono/html";
import * as look from "../look/pages.ts";
import { clientId, DOCUMENT_PATH, type metadataDocument } from "./metadata-document.ts";
import type { SignedIn } from "./session.ts";
import type { Settings } from "./settings.ts";

type Site = Settings & { document: ReturnType<typeof metadataDocument> };

const EXPLANATIONS: look.Explanations = {
  access_denied: ["You did not authorize this site", "Nothing was shared. You can sign in at any other time."],
  unknown_state: [
    "This sign-in was not started here",
    "It was started in another browser or too long ago, or has already been completed.",
  ],
  unreachable: ["No response", "The sign-in service cannot be reached. Try again in a moment."],
};

const frameOf = ({ siteName, issuerName }: Site): look.Frame => ({
  className: "heron",
  name: siteName,
  logo: "/assets/logo.png",
  issuerName,
  footer: html`A sample site of Keyhook, registered only by its own metadata document, with <code>openid-client</code>.`,
});

export function homePage(site: Site, signedIn: SignedIn | undefined, result?: look.ApiResult): look.Html {
  const frame = frameOf(site);
  if (!signedIn) {
    return look.page(
      frame,
      "Welcome",
      html`<section class="hero">
          <p class="eyebrow">Field notes from the water’s edge</p>
          <h1>What did you see this morning?</h1>
          <p class="lead">Write it down where you stand, and find it again next spring. Your notebook opens with the account you have.</p>
          <p>${look.signInButton(frame)}</p>
        </section>
        ${documentCard(site)}`,
    );
  }
  const { profile } = signedIn;
  return look.page(
    frame,
    "Signed in",
    html`<h1>Hello, ${profile.name ?? profile.preferred_username ?? "somebody"}</h1>
      ${result && look.apiResult(result, "Access has ended")} ${look.profileCard(profile)} ${look.accessCard(signedIn)} ${documentCard(site)}`,
    look.signOutButton(),
  );
}

export const errorPage = (site: Site, code: string): look.Html => look.errorPage(frameOf(site), EXPLANATIONS, code);

function documentCard(site: Site): look.Html {
  return html`<details class="card">
    <summary>How ${site.issuerName} knows this site</summary>
    <p>
      It is not registered anywhere. Its client ID is the address of a document that it serves itself, and
      ${site.issuerName} reads it when somebody signs in:
    </p>
    <p><a href="${DOCUMENT_PATH}"><code>${clientId(site)}</code></a></p>
    <pre tabindex="0" aria-label="Metadata document">${JSON.stringify(site.document, null, 2)}</pre>
  </details>`;
}
