/** What just happened, said once after a redirect. */
export const securityNotices = new Map([
  ["passkey-added", "The passkey is added: signing in takes two steps now, or the passkey alone."],
  ["passkey-renamed", "The passkey has its new name."],
  ["passkey-removed", "The passkey is removed."],
  ["authenticator-added", "The authenticator app is set up: signing in takes two steps now."],
  ["authenticator-removed", "The authenticator app is removed."],
]);
