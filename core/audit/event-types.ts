type Described = {
  /**
   * What was done, as the rest of a sentence that begins with who did it. `{subject}` is the user it was done to, `{app}` the OAuth
   * client, any other word a field of `data`. What stands in square brackets is left out when a field in it is absent.
   */
  did: string;
  /** Whether administrators of an organization can meet it in their log; then it is recorded with `orgId` where there is one. */
  isForOrganizations?: true;
};

/** Every kind of entry of the audit log, by `scope.action` (S116). `recordAuditEvent` takes no other. */
export const auditEventTypes = {
  // ---- people: signing in
  "user.sign_in": { did: "signed in[ with {with}]" },
  "user.sign_in_failed": { did: "refused a wrong password for {subject}" },
  "user.sign_out": { did: "signed out" },
  "user.reauthenticate": { did: "proved again who they are" },
  "user.end_session": { did: "ended a session[ of {subject}]" },
  "user.end_all_sessions": { did: "ended all sessions of {subject}" },
  "user.end_other_sessions": { did: "ended all their other sessions" },
  "user.forgot_password": { did: "was sent a link to choose a new password, {subject}" },
  "user.reset_password": { did: "chose a new password by a link" },
  "user.change_password": { did: "changed their password" },
  "user.set_password": { did: "set a password" },
  "user.request_email_change": { did: "asked for another e-mail address" },
  "user.change_email": { did: "confirmed an e-mail address" },

  // ---- people: second step, passkeys, providers
  "second_step.on": { did: "turned on a second step of signing in", isForOrganizations: true },
  "second_step.off": { did: "turned off the second step of signing in[ of {subject}]", isForOrganizations: true },
  "second_step.failed": { did: "failed the second step of signing in as {subject}" },
  "second_step.reset": { did: "took the second step of signing in away from {subject}", isForOrganizations: true },
  "passkey.add": { did: "added the passkey[ {name}]" },
  "passkey.rename": { did: "renamed a passkey[ to {name}]" },
  "passkey.remove": { did: "removed the passkey[ {name}]" },
  "totp.add": { did: "set up an authenticator app" },
  "totp.remove": { did: "removed their authenticator app" },
  "recovery_code.create": { did: "made new recovery codes" },
  "recovery_code.use": { did: "signed in with a recovery code" },
  "linked_identity.link": { did: "linked their account with[ {provider}]", isForOrganizations: true },
  "linked_identity.unlink": { did: "unlinked their account from[ {provider}]", isForOrganizations: true },

  // ---- people: accounts
  "user.create": { did: "created the account {subject}" },
  "user.update_profile": { did: "changed their profile" },
  "user.disable": { did: "disabled the account {subject}" },
  "user.enable": { did: "enabled the account {subject}" },
  "user.delete": { did: "deleted the account[ {username}]" },
  "user.make_operator": { did: "made {subject} an operator" },
  "user.unmake_operator": { did: "took operation of the service from {subject}" },
  "personal_access_token.create": { did: "made the access token {name}[ for {subject}]" },
  "personal_access_token.revoke": { did: "revoked the access token {name}[ of {subject}]" },

  // ---- organizations
  "organization.create": { did: "created the organization[ {name}]", isForOrganizations: true },
  "organization.update": { did: "changed the organization's profile", isForOrganizations: true },
  "organization.delete": { did: "deleted the organization[ {name}]", isForOrganizations: true },
  "organization.set_plan": { did: "set the plan[ to {plan}]", isForOrganizations: true },
  "organization.set_policy": { did: "changed the organization's sign-in rules", isForOrganizations: true },
  "organization.set_app_policy": { did: "set the app policy[ to {policy}]", isForOrganizations: true },
  "organization.approve_app": { did: "approved the app {app}", isForOrganizations: true },
  "organization.block_app": { did: "blocked the app {app}", isForOrganizations: true },
  "organization.request_app": { did: "asked that the app {app} be let in", isForOrganizations: true },
  "organization.reset_app": { did: "took back the decision about the app {app}", isForOrganizations: true },
  "organization.add_member": { did: "added {subject}[ as {role}]", isForOrganizations: true },
  "organization.change_role": { did: "changed the role of {subject}[ from {from}][ to {to}]", isForOrganizations: true },
  "organization.transfer": { did: "handed the organization over to {subject}", isForOrganizations: true },
  "organization.remove_member": { did: "removed {subject}", isForOrganizations: true },
  "organization.leave": { did: "left the organization", isForOrganizations: true },
  "organization.invite": { did: "invited {email}[ as {role}]", isForOrganizations: true },
  "organization.resend_invitation": { did: "sent the invitation of {email} again", isForOrganizations: true },
  "organization.revoke_invitation": { did: "took the invitation of {email} back", isForOrganizations: true },
  "organization.accept_invitation": { did: "accepted an invitation[ as {role}]", isForOrganizations: true },
  "identity_provider.create": { did: "added the identity provider[ {name}]", isForOrganizations: true },
  "identity_provider.update": { did: "changed the identity provider[ {name}]", isForOrganizations: true },
  "identity_provider.disable": { did: "disabled the identity provider[ {name}]", isForOrganizations: true },
  "identity_provider.enable": { did: "enabled the identity provider[ {name}]", isForOrganizations: true },
  "identity_provider.delete": { did: "deleted the identity provider[ {name}]", isForOrganizations: true },

  // ---- OAuth: what people allow
  "oauth_consent.give": { did: "allowed the app {app}" },
  "oauth_consent.deny": { did: "refused the app {app}" },
  "oauth_consent.revoke": { did: "took back what the app {app} was allowed" },
  "oauth_consent.give_organization": { did: "let the app {app} in", isForOrganizations: true },
  "oauth_consent.revoke_organization": { did: "took back that the app {app} was let in", isForOrganizations: true },
  "device.approve": { did: "let a device in for the app {app}" },
  "device.deny": { did: "refused a device of the app {app}" },
  "oauth_token.exchange": {
    did: "exchanged an e-mail address for a token of {subject}, by the app {app}",
    isForOrganizations: true,
  },
  "oauth_token.exchange_refused": {
    did: "was refused a token for an e-mail address, by the app {app}[: {reason}]",
    isForOrganizations: true,
  },
  "oauth_token.exchange_burst": { did: "noticed unusually many exchanges by the app {app}", isForOrganizations: true },
  "oauth_token.replay_detected": { did: "used a code or token of the app {app} again", isForOrganizations: true },
  "oauth_logout_notice.fail": { did: "could not tell the app {app} of a sign-out", isForOrganizations: true },

  // ---- OAuth: apps
  "oauth_app.create": { did: "created the app {app}", isForOrganizations: true },
  "oauth_app.register": { did: "had the app {app} register itself" },
  "oauth_app.update": { did: "changed the app {app}", isForOrganizations: true },
  "oauth_app.update_registration": { did: "had the app {app} change its registration" },
  "oauth_app.delete": { did: "deleted the app[ {name}]", isForOrganizations: true },
  "oauth_app.transfer": { did: "gave the app {app} to {owner}", isForOrganizations: true },
  "oauth_app.redirect_change": { did: "changed the redirect URIs of the app {app}", isForOrganizations: true },
  "oauth_app.secret_create": { did: "made a secret for the app {app}", isForOrganizations: true },
  "oauth_app.secret_rotate": { did: "rotated the secret of the app {app}", isForOrganizations: true },
  "oauth_app.secret_delete": { did: "deleted the secret of the app {app}", isForOrganizations: true },
  "oauth_app.keys_set": { did: "gave the app {app} keys of its own", isForOrganizations: true },
  "oauth_app.keys_delete": { did: "deleted the keys of the app {app}", isForOrganizations: true },
  "oauth_app.verify": { did: "marked the app {app} as verified", isForOrganizations: true },
  "oauth_app.unverify": { did: "took the verified mark from the app {app}", isForOrganizations: true },
  "oauth_app.block": { did: "blocked the app {app} everywhere", isForOrganizations: true },
  "oauth_app.unblock": { did: "unblocked the app {app} everywhere", isForOrganizations: true },
  "oauth_app.bind": { did: "bound the app {app} to the organization", isForOrganizations: true },
  "oauth_app.unbind": { did: "unbound the app {app} from the organization", isForOrganizations: true },
  "oauth_app.privilege_grant": { did: "gave the app {app} the privilege[ {privilege}]", isForOrganizations: true },
  "oauth_app.privilege_revoke": { did: "took the privilege[ {privilege}] from the app {app}", isForOrganizations: true },
  "oauth_app.privilege_request": {
    did: "asked the operator for the privilege[ {privilege}] of the app {app}",
    isForOrganizations: true,
  },
  "oauth_app.set_token_duration": { did: "set how long tokens of the app {app} last", isForOrganizations: true },
  "oauth_client_document.change": { did: "found the metadata document of {app} changed" },
  "oauth_client_host.allow": { did: "allowed apps of the host {host}" },
  "oauth_client_host.block": { did: "blocked apps of the host {host}" },
  "oauth_client_host.remove": { did: "removed the rule for the host {host}" },

  // ---- keyless continuous integration
  "trusted_publisher.create": { did: "trusted a publisher[ for {repo}]", isForOrganizations: true },
  "trusted_publisher.delete": { did: "no longer trusts a publisher[ for {repo}]", isForOrganizations: true },
  "ci_token.exchange": { did: "exchanged a job's identity for a token[ for {repo}]", isForOrganizations: true },
  "ci_token.exchange_refused": { did: "was refused a token for a job[: {error}]", isForOrganizations: true },

  // ---- leaked tokens
  "credential.revoke_leaked": {
    did: "was told of a leaked token of {subject}, and revoked it[: {name}]",
    isForOrganizations: true,
  },
  "oauth_app.secret_leaked": { did: "was told that a secret of the app {app} has leaked", isForOrganizations: true },
  "organization.revoke_token": { did: "cut a token of {subject} off from the organization", isForOrganizations: true },

  // ---- repositories
  "repo.create": { did: "created the repository {repo}", isForOrganizations: true },
  "repo.update_settings": { did: "changed the settings of {repo}", isForOrganizations: true },
  "repo.move": { did: "moved {from} to {to}[ and ended its {endedPublishers} trusted publishers]", isForOrganizations: true },
  "repo.delete": { did: "deleted the repository {repo}", isForOrganizations: true },
  "space.restart": { did: "restarted the Space {repo}", isForOrganizations: true },
  "space.pause": { did: "paused the Space {repo}", isForOrganizations: true },
  "space.set_sleep_time": { did: "set after how long the Space {repo} sleeps[, {seconds} seconds]", isForOrganizations: true },
  "space.set_variable": { did: "set the variable {name} of the Space {repo}", isForOrganizations: true },
  "space.delete_variable": { did: "removed the variable {name} of the Space {repo}", isForOrganizations: true },
  "space.renew_receiver_address": { did: "made another address for receivers of the Space {repo}", isForOrganizations: true },
  "access_request.ask": { did: "asked for access to {repo}", isForOrganizations: true },
  "access_request.accept": { did: "accepted the request of {subject} for {repo}", isForOrganizations: true },
  "access_request.reject": { did: "rejected the request of {subject} for {repo}", isForOrganizations: true },
  "access_request.reopen": { did: "reopened the request of {subject} for {repo}", isForOrganizations: true },
  "access_request.grant": { did: "gave {subject} access to {repo}", isForOrganizations: true },
  "access_request.withdraw": { did: "withdrew their request for {repo}", isForOrganizations: true },
  "discussion.lock": { did: "locked discussion {num} of {repo}", isForOrganizations: true },
  "discussion.unlock": { did: "unlocked discussion {num} of {repo}", isForOrganizations: true },
  "discussion.delete": { did: "deleted discussion {num} of {repo}", isForOrganizations: true },
  "discussion.hide_comment": { did: "hid a comment in discussion {num} of {repo}", isForOrganizations: true },
  "discussion.delete_comment": { did: "deleted a comment in discussion {num} of {repo}", isForOrganizations: true },
  "collection.create": { did: "created the collection[ {title}]", isForOrganizations: true },
  "collection.update": { did: "changed the collection[ {title}]", isForOrganizations: true },
  "collection.delete": { did: "deleted the collection[ {title}]", isForOrganizations: true },

  // ---- webhooks
  "webhook.create": { did: "created a webhook[ to {target}]", isForOrganizations: true },
  "webhook.update": { did: "changed the webhook[ to {target}]", isForOrganizations: true },
  "webhook.enable": { did: "enabled the webhook[ to {target}]", isForOrganizations: true },
  "webhook.disable": { did: "disabled the webhook[ to {target}]", isForOrganizations: true },
  "webhook.suspend": { did: "suspended the webhook[ to {target}][: {reason}]", isForOrganizations: true },
  "webhook.delete": { did: "deleted the webhook[ to {target}]", isForOrganizations: true },
  "webhook.replay": { did: "had deliveries of a webhook sent again[: {count}]", isForOrganizations: true },
  "webhook.test": { did: "sent a test to a webhook[: {kind}]", isForOrganizations: true },
  "webhook.rotate_secret": { did: "rotated the secret of a webhook", isForOrganizations: true },

  // ---- relays
  "relay.open": { did: "opened the relay[ {name}]" },
  "relay.close": { did: "closed the relay[ {name}]" },

  // ---- jobs
  "job.run": { did: "ran a job[ of {image}]", isForOrganizations: true },
  "job.cancel": { did: "cancelled a job", isForOrganizations: true },
  "job.update": { did: "changed the labels of a job", isForOrganizations: true },
  "scheduled_job.create": { did: "scheduled a job[: {schedule}]", isForOrganizations: true },
  "scheduled_job.update": { did: "changed a scheduled job[ to {schedule}]", isForOrganizations: true },
  "scheduled_job.suspend": { did: "suspended a scheduled job[: {reason}]", isForOrganizations: true },
  "scheduled_job.resume": { did: "resumed a scheduled job", isForOrganizations: true },
  "scheduled_job.delete": { did: "deleted a scheduled job", isForOrganizations: true },

  // ---- the audit log itself
  "audit_log.export": { did: "exported the audit log[ as {format}]", isForOrganizations: true },
  "audit_log.expire": { did: "removed the contents of {count} entries past retention" },
  "audit_log.set_retention": { did: "set how long the audit log is kept[ to {days} days]" },

  // ---- the installation
  "installation.set_up": { did: "set the service up" },
  "installation.registration_policy": { did: "set who may register apps" },
  "installation.client_document_policy": { did: "set which metadata documents are taken" },
  "signing_key.rotate": { did: "rotated the signing keys" },
  "resource_server.add": { did: "added the resource server {identifier}" },
  "resource_server.remove": { did: "removed the resource server {identifier}" },
  "platform.create": { did: "connected the platform {name}" },
  "platform.rotate_token": { did: "rotated the token of the platform {name}" },
  "platform.revoke": { did: "cut the platform {name} off" },
  "platform.sync": { did: "synchronised the repositories of the platform {name}" },
  "inference_provider.create": { did: "added the inference provider[ {name}]" },
  "inference_provider.update": { did: "changed the inference provider[ {name}]" },
  "inference_provider.delete": { did: "deleted the inference provider[ {name}]" },
  "inference_model.create": { did: "offered the model[ {name}] for inference" },
  "inference_model.delete": { did: "stopped offering the model[ {name}] for inference" },
  "storage_quota.set": { did: "set how much {owner} may store[: {quota}]", isForOrganizations: true },
  "inference_allowance.set": { did: "set what may be used for inference in a month[: {subject}]", isForOrganizations: true },
  "inference_rates.set": { did: "set how often inference may be asked for[ by a person: {perUser} a minute]" },
  "mail.test": { did: "sent a test mail[ to {to}]" },
} as const satisfies Record<`${string}.${string}`, Described>;

export type AuditEventType = keyof typeof auditEventTypes;

export function isAuditEventType(type: string): type is AuditEventType {
  return Object.hasOwn(auditEventTypes, type);
}
