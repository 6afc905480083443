import { issuerName } from "/settings.js";

/** The page never repeats text from a URL. */
const EXPLANATIONS = {
  access_denied: ["You did not authorize Copper Kite", "Nothing was shared. You can sign in at any other time."],
  login_required: [
    "You are not signed in at the service",
    "This site tried to sign you in without showing a page, which works only while you are signed in at the service.",
  ],
  consent_required: [
    "Your consent is needed",
    "This site tried to sign you in without showing a page, but you have to decide something.",
  ],
  invalid_grant: ["Access was revoked", "Sign in again to continue."],
  revoked: ["Access was revoked", "The API no longer accepts this site's token. Sign in again to continue."],
  unknown_state: ["This sign-in was not started here", "It was started in another tab, or has already been completed."],
  unreachable: ["No response", "The sign-in service cannot be reached. Try again in a moment."],
};

const element = (id) => document.getElementById(id);

/** Sets text as text, never as markup, because a name may contain anything. */
function write(slot, text) {
  for (const place of document.querySelectorAll(`[data-text="${slot}"]`)) place.textContent = text;
}

function list(id, texts, none) {
  const items = (texts.length > 0 ? texts : none ? [none] : []).map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  });
  element(id).replaceChildren(...items);
}

export function showSignedOut(knownOrganizations) {
  write("issuerName", issuerName);
  element("known").replaceChildren(...knownOrganizations.map(({ id, name }) => new Option(name, id)));
}

export function showSignedIn({ profile, scope, expiresAt, refresh_token }) {
  const { name, preferred_username: username, picture, email, organizations = [] } = profile;
  document.title = "Signed in · Copper Kite";
  element("title").textContent = `Hello, ${name ?? username ?? "somebody"}`;
  element("ask-title").textContent = "Request more";
  element("ask-card").open = true;
  for (const id of ["lead", "sign-in", "api"]) element(id).hidden = true;
  for (const part of document.querySelectorAll("[data-signed-in], #sign-out")) part.hidden = false;
  element("renew").hidden = !refresh_token;
  element("picture").hidden = !picture;
  if (picture) element("picture").src = picture;
  write("name", name ?? "");
  write("username", username ?? "");
  write("email", email ?? "not shared");
  write("expires", expiresAt.toLocaleString("en", { dateStyle: "medium", timeStyle: "long", timeZone: "UTC" }));
  const scopes = scope.split(" ");
  list("scopes", scopes);
  list(
    "organizations",
    organizations.map(({ name, roleInOrg }) => [name, roleInOrg].filter(Boolean).join(" ")),
    "none shared",
  );
  for (const box of document.querySelectorAll("#ask [name=scope]")) box.checked = scopes.includes(box.value);
  element("title").focus();
}

export function showApiAnswer(answer) {
  showApi("good", "The API responded", "");
  element("api-answer").textContent = JSON.stringify(answer, null, 2);
  element("api-answer").hidden = false;
}

export function showError(code) {
  const [title, text] = EXPLANATIONS[code] ?? ["Sign-in failed", "Try again; if it happens again, contact this site."];
  document.title = `${title} · Copper Kite`;
  showApi("bad", title, text);
  element("sign-in").hidden = false;
}

function showApi(mood, title, text) {
  element("api").className = `card ${mood}`;
  element("api-title").textContent = title;
  element("api-text").textContent = text;
  element("api-text").hidden = !text;
  element("api-answer").hidden = true;
  element("api").hidden = false;
  element("api-title").focus();
}
