/**
 * Names that no user or organization can have (S139), in lower case. First all our URLs, current and planned, since owners live
 * at `/<handle>`; then words with which somebody could impersonate the service; then names that break programs.
 */
const routes = `
  _next accept account accounts activate activity admin administrator api apps assets auth authorize avatars
  badges billing blog bucket buckets callback changelog chat cimd collections community confirm connect consent contact
  copilot courses dashboard datasets demo device devices discover discussions docs documentation download downloads
  email emails endpoints enterprise error errors events examples explore favicon feed feeds files forgot-password
  gists git graphql groups guide guides hardware healthz help home hooks hub icon icons images inbox index inference interaction interactions
  invitations invite invites issues jobs join kernels landing learn legal login logout logs mail manifest marketplace mcp
  me members messages metrics models new news notifications oauth oauth2 oidc openapi org organization organizations
  orgs owner packages pages papers password plans policies posts pricing privacy profile profiles projects public pulls
  readyz receiver register relay releases repo repos repositories reset-password resolve resources robots roles rss run runs
  saml scim scopes search secret secrets security session sessions settings setup share shots sign-in sign-out sign-up signin
  signout signup site sitemap spaces sso stars static stats status storage store subscriptions support sw system tags team
  teams templates terms token tokens tos tree trending tunnel upload uploads user userinfo users v1 verify-email version
  video watch webhook webhooks websocket well-known whoami whoami-v2 wiki worker workers
`;
const impersonation = `
  abuse anonymous bot ceo everyone ghost guest hostmaster keyhook moderator nobody noreply no-reply official operator operators
  postmaster root staff superuser sysadmin sudo trust verified webmaster daemon
`;
const troublesome = `
  __proto__ con constructor false hasownproperty localhost nan none null nul prototype tostring true undefined valueof void
`;

export const reservedHandles: ReadonlySet<string> = new Set(`${routes} ${impersonation} ${troublesome}`.trim().split(/\s+/));
