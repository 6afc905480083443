import { html } from "hono/html";
import * as look from "../../look/pages.ts";
import type { SignedIn } from "./session.ts";

type Site = { issuerName: string; knownOrganizations: { id: string; name: string }[] };

export const USUAL_SCOPES = ["openid", "profile", "email", "read-repos"];

const SCOPE_LABELS: Record<string, string> = {
  email: "E-mail address",
  "read-repos": "Read repositories",
  "write-discussions": "Open discussions",
  offline_access: "Stay signed in",
};

const EXPLANATIONS: look.Explanations = {
  access_denied: ["You did not authorize Paper Lantern", "Nothing was shared. You can sign in at any other time."],
  login_required: [
    "You are not signed in at the service",
    "This site tried to sign you in without showing a page, which works only while you are signed in at the service.",
  ],
  consent_required: [
    "Your consent is needed",
    "This site tried to sign you in without showing a page, but you have to decide something.",
  ],
  invalid_grant: ["Access was revoked", "Sign in again to continue."],
  unknown_state: [
    "This sign-in was not started here",
    "It was started in another browser or too long ago, or has already been completed.",
  ],
  unreachable: ["No response", "The sign-in service cannot be reached. Try again in a moment."],
};

const frameOf = ({ issuerName }: Site): look.Frame => ({
  className: "lantern",
  name: "Paper Lantern",
  logo: "/assets/lantern.svg",
  issuerName,
  footer: html`This sample site of Keyhook signs people in on the site's own server, with <code>openid-client</code>.`,
});

export function homePage(site: Site, signedIn: SignedIn | undefined, result?: look.ApiResult): look.Html {
  const frame = frameOf(site);
  return look.page(
    frame,
    signedIn ? "Signed in" : "Welcome",
    signedIn
      ? html`<h1>Hello, ${signedIn.profile.name ?? signedIn.profile.preferred_username ?? "somebody"}</h1>
          ${result && look.apiResult(result)} ${look.profileCard(signedIn.profile)} ${look.accessCard(signedIn, renewButton(signedIn))}
          ${askCard(site, signedIn)}`
      : html`<h1>Reading lists that travel with you</h1>
          <p class="lead">Paper Lantern is a sample site. It signs you in on its server and never sees your password.</p>
          <p>${look.signInButton(frame)}</p>
          ${askCard(site, undefined)}`,
    signedIn && look.signOutButton(),
  );
}

export const errorPage = (site: Site, code: string): look.Html => look.errorPage(frameOf(site), EXPLANATIONS, code);

const renewButton = ({ refreshToken }: SignedIn): look.Html | undefined =>
  refreshToken ? html`<form method="post" action="/renew"><button class="button">Renew access</button></form>` : undefined;

function askCard({ knownOrganizations }: Site, signedIn: SignedIn | undefined): look.Html {
  const ticked = signedIn?.scopes ?? USUAL_SCOPES;
  return html`<details class="card" ${signedIn ? "open" : ""}>
    <summary>${signedIn ? "Request more" : "Change the request"}</summary>
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
        <option value="consent">always, to give consent again</option>
        <option value="login">always, to sign in again</option>
        <option value="none">never</option>
      </select>
      <p><button class="button">Request</button></p>
    </form>
  </details>`;
}
