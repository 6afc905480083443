/**
 * What keeps entries of a kind from filling the log (decision 083). An action that gives or removes access must never be refused because of
 * other entries in the same name. Otherwise whoever holds a stolen session could lock its owner out by changing other things all the time.
 *
 * - `hour`: counts with its actor's other changes, and is refused beyond their allowance.
 * - `ends`: never refused. It uses up something created under an allowance (a session, a token, a link), and is recorded only then.
 * - `apart`: gives or removes access, and can be repeated. Counts only with its own kind, from one network.
 * - `elsewhere`: never refused. The operation has a throttle, or the service records it about a user.
 */
export type Bound = "hour" | "ends" | "apart" | "elsewhere";

type Described = {
  /**
   * What was done, as the rest of a sentence that begins with the actor. `{subject}` is the user it was done to, `{app}` the OAuth client,
   * any other word a field of `data`. Text in square brackets is left out if one of its fields is absent.
   */
  did: string;
  bound: Bound;
  /** Whether it can appear in an organization's log, for its administrators; then it is recorded with `orgId` if there is one. */
  isForOrganizations?: true;
};

/** Every kind of entry of the audit log, by `scope.action` (S116). `recordAuditEvent` accepts no others. */
export const auditEventTypes = {
  // ---- people: signing in
  "user.sign_in": { did: "signed in[ with {with}]", bound: "apart" },
  "user.sign_in_failed": { did: "refused a wrong password for {subject}", bound: "elsewhere" },
  "user.sign_out": { did: "signed out", bound: "ends" },
  "user.reauthenticate": { did: "proved again who they are", bound: "apart" },
  "user.end_session": { did: "ended a session[ of {subject}]", bound: "ends" },
  "user.end_all_sessions": { did: "ended all sessions of {subject}", bound: "apart" },
  "user.end_other_sessions": { did: "ended all their other sessions", bound: "ends" },
  "user.forgot_password": { did: "was sent a link to choose a new password, {subject}", bound: "elsewhere" },
  "user.reset_password": { did: "chose a new password by a link", bound: "ends" },
  "user.change_password": { did: "changed their password", bound: "apart" },
  "user.set_password": { did: "set a password", bound: "ends" },
  "user.request_email_change": { did: "asked for another e-mail address", bound: "hour" },
  "user.change_email": { did: "confirmed an e-mail address", bound: "ends" },

  // ---- people: second step, passkeys, providers
  "second_step.on": { did: "turned on a second step of signing in", bound: "elsewhere", isForOrganizations: true },
  "second_step.off": {
    did: "turned off the second step of signing in[ of {subject}]",
    bound: "elsewhere",
    isForOrganizations: true,
  },
  "second_step.failed": { did: "failed the second step of signing in as {subject}", bound: "elsewhere" },
  "second_step.reset": {
    did: "took the second step of signing in away from {subject}",
    bound: "apart",
    isForOrganizations: true,
  },
  "passkey.add": { did: "added the passkey[ {name}]", bound: "elsewhere" },
  "passkey.rename": { did: "renamed a passkey[ to {name}]", bound: "elsewhere" },
  "passkey.remove": { did: "removed the passkey[ {name}]", bound: "elsewhere" },
  "totp.add": { did: "set up an authenticator app", bound: "elsewhere" },
  "totp.remove": { did: "removed their authenticator app", bound: "elsewhere" },
  "recovery_code.create": { did: "made new recovery codes", bound: "elsewhere" },
  "recovery_code.use": { did: "signed in with a recovery code", bound: "ends" },
  "linked_identity.link": { did: "linked their account with[ {provider}]", bound: "hour", isForOrganizations: true },
  "linked_identity.unlink": { did: "unlinked their account from[ {provider}]", bound: "ends", isForOrganizations: true },

  // ---- people: accounts
  "user.create": { did: "created the account {subject}", bound: "hour" },
  "user.update_profile": { did: "changed their profile", bound: "hour" },
  "user.disable": { did: "disabled the account {subject}", bound: "ends" },
  "user.enable": { did: "enabled the account {subject}", bound: "hour" },
  "user.delete": { did: "deleted the account[ {username}]", bound: "ends" },
  "user.make_operator": { did: "made {subject} an operator", bound: "hour" },
  "user.unmake_operator": { did: "took operation of the service from {subject}", bound: "apart" },
  "personal_access_token.create": { did: "made the access token {name}[ for {subject}]", bound: "hour" },
  "personal_access_token.revoke": { did: "revoked the access token {name}[ of {subject}]", bound: "ends" },

  // ---- organizations
  "organization.create": { did: "created the organization[ {name}]", bound: "hour", isForOrganizations: true },
  "organization.update": { did: "changed the organization's profile", bound: "hour", isForOrganizations: true },
  "organization.delete": { did: "deleted the organization[ {name}]", bound: "ends", isForOrganizations: true },
  "organization.set_plan": { did: "set the plan[ to {plan}]", bound: "hour", isForOrganizations: true },
  "organization.set_policy": { did: "changed the organization's sign-in rules", bound: "hour", isForOrganizations: true },
  "organization.set_app_policy": { did: "set the app policy[ to {policy}]", bound: "hour", isForOrganizations: true },
  "organization.approve_app": { did: "approved the app {app}", bound: "hour", isForOrganizations: true },
  "organization.block_app": { did: "blocked the app {app}", bound: "apart", isForOrganizations: true },
  "organization.request_app": { did: "asked that the app {app} be let in", bound: "hour", isForOrganizations: true },
  "organization.reset_app": { did: "took back the decision about the app {app}", bound: "ends", isForOrganizations: true },
  "organization.add_member": { did: "added {subject}[ as {role}]", bound: "hour", isForOrganizations: true },
  "organization.change_role": {
    did: "changed the role of {subject}[ from {from}][ to {to}]",
    bound: "hour",
    isForOrganizations: true,
  },
  "organization.transfer": { did: "handed the organization over to {subject}", bound: "hour", isForOrganizations: true },
  "organization.remove_member": { did: "removed {subject}", bound: "ends", isForOrganizations: true },
  "organization.leave": { did: "left the organization", bound: "ends", isForOrganizations: true },
  "organization.invite": { did: "invited {email}[ as {role}]", bound: "hour", isForOrganizations: true },
  "organization.resend_invitation": { did: "sent the invitation of {email} again", bound: "hour", isForOrganizations: true },
  "organization.revoke_invitation": { did: "took the invitation of {email} back", bound: "ends", isForOrganizations: true },
  "organization.accept_invitation": { did: "accepted an invitation[ as {role}]", bound: "ends", isForOrganizations: true },
  "identity_provider.create": { did: "added the identity provider[ {name}]", bound: "hour", isForOrganizations: true },
  "identity_provider.update": { did: "changed the identity provider[ {name}]", bound: "hour", isForOrganizations: true },
  "identity_provider.disable": { did: "disabled the identity provider[ {name}]", bound: "ends", isForOrganizations: true },
  "identity_provider.enable": { did: "enabled the identity provider[ {name}]", bound: "hour", isForOrganizations: true },
  "identity_provider.delete": { did: "deleted the identity provider[ {name}]", bound: "ends", isForOrganizations: true },

  // ---- OAuth: what users allow
  "oauth_consent.give": { did: "allowed the app {app}", bound: "hour" },
  "oauth_consent.deny": { did: "refused the app {app}", bound: "elsewhere" },
  "oauth_consent.revoke": { did: "took back what the app {app} was allowed", bound: "ends" },
  "oauth_consent.give_organization": { did: "let the app {app} in", bound: "hour", isForOrganizations: true },
  "oauth_consent.revoke_organization": {
    did: "took back that the app {app} was let in",
    bound: "ends",
    isForOrganizations: true,
  },
  "device.approve": { did: "let a device in for the app {app}", bound: "hour" },
  "device.deny": { did: "refused a device of the app {app}", bound: "elsewhere" },
  "oauth_token.exchange": {
    did: "exchanged an e-mail address for a token of {subject}, by the app {app}",
    bound: "elsewhere",
    isForOrganizations: true,
  },
  "oauth_token.exchange_refused": {
    did: "was refused a token for an e-mail address, by the app {app}[: {reason}]",
    bound: "elsewhere",
    isForOrganizations: true,
  },
  "oauth_token.exchange_burst": {
    did: "noticed unusually many exchanges by the app {app}",
    bound: "elsewhere",
    isForOrganizations: true,
  },
  "oauth_token.replay_detected": {
    did: "used a code or token of the app {app} again",
    bound: "elsewhere",
    isForOrganizations: true,
  },
  "oauth_logout_notice.fail": { did: "could not tell the app {app} of a sign-out", bound: "elsewhere", isForOrganizations: true },

  // ---- OAuth: apps
  "oauth_app.create": { did: "created the app {app}", bound: "hour", isForOrganizations: true },
  "oauth_app.register": { did: "had the app {app} register itself", bound: "elsewhere" },
  "oauth_app.update": { did: "changed the app {app}", bound: "hour", isForOrganizations: true },
  "oauth_app.update_registration": { did: "had the app {app} change its registration", bound: "elsewhere" },
  "oauth_app.delete": { did: "deleted the app[ {name}]", bound: "ends", isForOrganizations: true },
  "oauth_app.transfer": { did: "gave the app {app} to {owner}", bound: "hour", isForOrganizations: true },
  "oauth_app.redirect_change": { did: "changed the redirect URIs of the app {app}", bound: "hour", isForOrganizations: true },
  "oauth_app.secret_create": { did: "made a secret for the app {app}", bound: "hour", isForOrganizations: true },
  "oauth_app.secret_rotate": { did: "rotated the secret of the app {app}", bound: "apart", isForOrganizations: true },
  "oauth_app.secret_delete": { did: "deleted the secret of the app {app}", bound: "ends", isForOrganizations: true },
  "oauth_app.keys_set": { did: "gave the app {app} keys of its own", bound: "apart", isForOrganizations: true },
  "oauth_app.keys_delete": { did: "deleted the keys of the app {app}", bound: "ends", isForOrganizations: true },
  "oauth_app.verify": { did: "marked the app {app} as verified", bound: "hour", isForOrganizations: true },
  "oauth_app.unverify": { did: "took the verified mark from the app {app}", bound: "ends", isForOrganizations: true },
  "oauth_app.block": { did: "blocked the app {app} everywhere", bound: "ends", isForOrganizations: true },
  "oauth_app.unblock": { did: "unblocked the app {app} everywhere", bound: "hour", isForOrganizations: true },
  "oauth_app.bind": { did: "bound the app {app} to the organization", bound: "hour", isForOrganizations: true },
  "oauth_app.unbind": { did: "unbound the app {app} from the organization", bound: "ends", isForOrganizations: true },
  "oauth_app.privilege_grant": { did: "gave the app {app} the privilege[ {privilege}]", bound: "hour", isForOrganizations: true },
  "oauth_app.privilege_revoke": {
    did: "took the privilege[ {privilege}] from the app {app}",
    bound: "ends",
    isForOrganizations: true,
  },
  "oauth_app.privilege_request": {
    did: "asked the operator for the privilege[ {privilege}] of the app {app}",
    bound: "hour",
    isForOrganizations: true,
  },
  "oauth_app.set_token_duration": { did: "set how long tokens of the app {app} last", bound: "hour", isForOrganizations: true },
  "oauth_client_document.change": { did: "found the metadata document of {app} changed", bound: "elsewhere" },
  "oauth_client_host.allow": { did: "allowed apps of the host {host}", bound: "hour" },
  "oauth_client_host.block": { did: "blocked apps of the host {host}", bound: "apart" },
  "oauth_client_host.remove": { did: "removed the rule for the host {host}", bound: "ends" },

  // ---- keyless continuous integration
  "trusted_publisher.create": { did: "trusted a publisher[ for {repo}]", bound: "hour", isForOrganizations: true },
  "trusted_publisher.delete": { did: "no longer trusts a publisher[ for {repo}]", bound: "ends", isForOrganizations: true },
  "ci_token.exchange": {
    did: "exchanged a job's identity for a token[ for {repo}]",
    bound: "elsewhere",
    isForOrganizations: true,
  },
  "ci_token.exchange_refused": { did: "was refused a token for a job[: {error}]", bound: "elsewhere", isForOrganizations: true },

  // ---- leaked tokens
  "credential.revoke_leaked": {
    did: "was told of a leaked token of {subject}, and revoked it[: {name}]",
    bound: "elsewhere",
    isForOrganizations: true,
  },
  "oauth_app.secret_leaked": {
    did: "was told that a secret of the app {app} has leaked",
    bound: "elsewhere",
    isForOrganizations: true,
  },
  "organization.revoke_token": {
    did: "cut a token of {subject} off from the organization",
    bound: "elsewhere",
    isForOrganizations: true,
  },

  // ---- repositories
  "repo.create": { did: "created the repository {repo}", bound: "hour", isForOrganizations: true },
  "repo.update_settings": { did: "changed the settings of {repo}", bound: "hour", isForOrganizations: true },
  "repo.move": {
    did: "moved {from} to {to}[ and ended its {endedPublishers} trusted publishers]",
    bound: "hour",
    isForOrganizations: true,
  },
  "repo.delete": { did: "deleted the repository {repo}", bound: "ends", isForOrganizations: true },
  "space.restart": { did: "restarted the Space {repo}", bound: "hour", isForOrganizations: true },
  "space.pause": { did: "paused the Space {repo}", bound: "apart", isForOrganizations: true },
  "space.set_sleep_time": {
    did: "set after how long the Space {repo} sleeps[, {seconds} seconds]",
    bound: "hour",
    isForOrganizations: true,
  },
  "space.set_variable": { did: "set the variable {name} of the Space {repo}", bound: "hour", isForOrganizations: true },
  "space.delete_variable": { did: "removed the variable {name} of the Space {repo}", bound: "ends", isForOrganizations: true },
  "space.renew_receiver_address": {
    did: "made another address for receivers of the Space {repo}",
    bound: "apart",
    isForOrganizations: true,
  },
  "access_request.ask": { did: "asked for access to {repo}", bound: "hour", isForOrganizations: true },
  "access_request.accept": { did: "accepted the request of {subject} for {repo}", bound: "hour", isForOrganizations: true },
  "access_request.reject": { did: "rejected the request of {subject} for {repo}", bound: "ends", isForOrganizations: true },
  "access_request.reopen": { did: "reopened the request of {subject} for {repo}", bound: "hour", isForOrganizations: true },
  "access_request.grant": { did: "gave {subject} access to {repo}", bound: "hour", isForOrganizations: true },
  "access_request.withdraw": { did: "withdrew their request for {repo}", bound: "ends", isForOrganizations: true },
  "discussion.lock": { did: "locked discussion {num} of {repo}", bound: "hour", isForOrganizations: true },
  "discussion.unlock": { did: "unlocked discussion {num} of {repo}", bound: "hour", isForOrganizations: true },
  "discussion.delete": { did: "deleted discussion {num} of {repo}", bound: "ends", isForOrganizations: true },
  "discussion.hide_comment": { did: "hid a comment in discussion {num} of {repo}", bound: "ends", isForOrganizations: true },
  "discussion.delete_comment": {
    did: "deleted a comment in discussion {num} of {repo}",
    bound: "ends",
    isForOrganizations: true,
  },
  "collection.create": { did: "created the collection[ {title}]", bound: "hour", isForOrganizations: true },
  "collection.update": { did: "changed the collection[ {title}]", bound: "hour", isForOrganizations: true },
  "collection.delete": { did: "deleted the collection[ {title}]", bound: "ends", isForOrganizations: true },

  // ---- webhooks
  "webhook.create": { did: "created a webhook[ to {target}]", bound: "hour", isForOrganizations: true },
  "webhook.update": { did: "changed the webhook[ to {target}]", bound: "hour", isForOrganizations: true },
  "webhook.enable": { did: "enabled the webhook[ to {target}]", bound: "hour", isForOrganizations: true },
  "webhook.disable": { did: "disabled the webhook[ to {target}]", bound: "ends", isForOrganizations: true },
  "webhook.suspend": { did: "suspended the webhook[ to {target}][: {reason}]", bound: "elsewhere", isForOrganizations: true },
  "webhook.delete": { did: "deleted the webhook[ to {target}]", bound: "ends", isForOrganizations: true },
  "webhook.replay": { did: "had deliveries of a webhook sent again[: {count}]", bound: "hour", isForOrganizations: true },
  "webhook.test": { did: "sent a test to a webhook[: {kind}]", bound: "hour", isForOrganizations: true },
  "webhook.rotate_secret": { did: "rotated the secret of a webhook", bound: "apart", isForOrganizations: true },

  // ---- relays
  "relay.open": { did: "opened the relay[ {name}]", bound: "hour" },
  "relay.close": { did: "closed the relay[ {name}]", bound: "ends" },

  // ---- jobs
  "job.run": { did: "ran a job[ of {image}]", bound: "hour", isForOrganizations: true },
  "job.cancel": { did: "cancelled a job", bound: "ends", isForOrganizations: true },
  "job.update": { did: "changed the labels of a job", bound: "hour", isForOrganizations: true },
  "scheduled_job.create": { did: "scheduled a job[: {schedule}]", bound: "hour", isForOrganizations: true },
  "scheduled_job.update": { did: "changed a scheduled job[ to {schedule}]", bound: "hour", isForOrganizations: true },
  "scheduled_job.suspend": { did: "suspended a scheduled job[: {reason}]", bound: "ends", isForOrganizations: true },
  "scheduled_job.resume": { did: "resumed a scheduled job", bound: "hour", isForOrganizations: true },
  "scheduled_job.delete": { did: "deleted a scheduled job", bound: "ends", isForOrganizations: true },

  // ---- the audit log itself
  "audit_log.export": { did: "exported the audit log[ as {format}]", bound: "hour", isForOrganizations: true },
  "audit_log.expire": { did: "removed the contents of {count} entries past retention", bound: "elsewhere" },
  "audit_log.set_retention": { did: "set how long the audit log is kept[ to {days} days]", bound: "hour" },

  // ---- the installation
  "installation.set_up": { did: "set the service up", bound: "hour" },
  "installation.registration_policy": { did: "set who may register apps", bound: "hour" },
  "installation.client_document_policy": { did: "set which metadata documents are taken", bound: "hour" },
  "signing_key.rotate": { did: "rotated the signing keys", bound: "apart" },
  "resource_server.add": { did: "added the resource server {identifier}", bound: "hour" },
  "resource_server.remove": { did: "removed the resource server {identifier}", bound: "ends" },
  "platform.create": { did: "connected the platform {name}", bound: "hour" },
  "platform.rotate_token": { did: "rotated the token of the platform {name}", bound: "apart" },
  "platform.revoke": { did: "cut the platform {name} off", bound: "ends" },
  "platform.sync": { did: "synchronised the repositories of the platform {name}", bound: "elsewhere" },
  "inference_provider.create": { did: "added the inference provider[ {name}]", bound: "hour" },
  "inference_provider.update": { did: "changed the inference provider[ {name}]", bound: "hour" },
  "inference_provider.delete": { did: "deleted the inference provider[ {name}]", bound: "ends" },
  "inference_model.create": { did: "offered the model[ {name}] for inference", bound: "hour" },
  "inference_model.delete": { did: "stopped offering the model[ {name}] for inference", bound: "ends" },
  "storage_quota.set": { did: "set how much {owner} may store[: {quota}]", bound: "hour", isForOrganizations: true },
  "inference_allowance.set": {
    did: "set what may be used for inference in a month[: {subject}]",
    bound: "hour",
    isForOrganizations: true,
  },
  "inference_rates.set": { did: "set how often inference may be asked for[ by a person: {perUser} a minute]", bound: "hour" },
  "mail.test": { did: "sent a test mail[ to {to}]", bound: "hour" },
} as const satisfies Record<`${string}.${string}`, Described>;

export type AuditEventType = keyof typeof auditEventTypes;

/** The kinds with a given bound. */
export function typesBound(bound: Bound): AuditEventType[] {
  return (Object.keys(auditEventTypes) as AuditEventType[]).filter((type) => auditEventTypes[type].bound === bound);
}

export function isAuditEventType(type: string): type is AuditEventType {
  return Object.hasOwn(auditEventTypes, type);
}
