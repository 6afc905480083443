/**
 * How entries of a kind are kept from filling the log (decision 083). Without a bound, an entry counts towards its actor's hourly
 * limit, and is refused beyond that limit.
 * - `ends`: never refused, because it ends something whose creation was limited.
 * - `apart`: must stay possible beyond the hourly limit, such as signing in. So each kind has its own limit for each network.
 * - `elsewhere`: never refused here, because the operation has a throttle or `recordAboutSomebody` limits the entries.
 */
type Bound = "ends" | "apart" | "elsewhere";

type Described = {
  /** Follows the actor in a sentence. `{other}` is the subject unless that is the actor. `[…]` needs all its fields. */
  did: string;
  bound?: Bound;
  /** The administrators of `orgId` see the entry in their log. */
  isInOrgLog?: true;
};

/** The keys are `scope.action` (S116). */
const types = {
  // ---- people: signing in
  "user.sign_in": { did: "signed in[ with {with}]", bound: "apart" },
  "user.sign_in_failed": { did: "refused a wrong password for {subject}", bound: "elsewhere" },
  "user.sign_out": { did: "signed out", bound: "ends" },
  "user.reauthenticate": { did: "confirmed their identity", bound: "apart" },
  "user.end_session": { did: "ended one of their sessions", bound: "ends" },
  "user.end_all_sessions": { did: "ended all sessions of {subject}", bound: "apart" },
  "user.end_other_sessions": { did: "ended all their other sessions", bound: "ends" },
  "user.forgot_password": { did: "sent {subject} a link to choose a new password", bound: "elsewhere" },
  "user.reset_password": { did: "chose a new password with a link", bound: "ends" },
  "user.change_password": { did: "changed their password", bound: "apart" },
  "user.set_password": { did: "set a password", bound: "ends" },
  "user.request_email_change": { did: "requested a change of e-mail address" },
  "user.change_email": { did: "confirmed an e-mail address", bound: "ends" },

  // ---- people: second step, passkeys, providers
  "second_step.on": { did: "turned on their second step", bound: "elsewhere", isInOrgLog: true },
  "second_step.off": { did: "turned off their second step", bound: "elsewhere", isInOrgLog: true },
  "second_step.failed": { did: "refused a wrong second step of {subject}", bound: "elsewhere" },
  "second_step.reset": { did: "reset the second step of {subject}", bound: "apart", isInOrgLog: true },
  "passkey.add": { did: "added the passkey[ {name}]", bound: "elsewhere" },
  "passkey.rename": { did: "renamed a passkey[ to {name}]", bound: "elsewhere" },
  "passkey.remove": { did: "removed the passkey[ {name}]", bound: "elsewhere" },
  "totp.add": { did: "set up an authenticator app", bound: "elsewhere" },
  "totp.remove": { did: "removed their authenticator app", bound: "elsewhere" },
  "recovery_code.create": { did: "created new recovery codes", bound: "elsewhere" },
  "recovery_code.use": { did: "signed in with a recovery code", bound: "ends" },
  "linked_identity.link": { did: "linked their account[ with {provider}]", isInOrgLog: true },
  "linked_identity.unlink": { did: "unlinked their account[ from {provider}]", bound: "ends", isInOrgLog: true },

  // ---- people: accounts
  "user.create": { did: "created the account {subject}" },
  "user.update_profile": { did: "changed their profile" },
  "user.disable": { did: "disabled the account {subject}", bound: "ends" },
  "user.enable": { did: "enabled the account {subject}" },
  "user.delete": { did: "deleted the account[ {username}]", bound: "ends" },
  "user.make_operator": { did: "made {subject} an operator" },
  "user.unmake_operator": { did: "removed {subject} as an operator", bound: "apart" },
  "personal_access_token.create": { did: "created the access token {name}[ for {other}]" },
  "personal_access_token.revoke": { did: "revoked the access token {name}[ of {other}]", bound: "ends" },

  // ---- organizations
  "organization.create": { did: "created the organization[ {name}]", isInOrgLog: true },
  "organization.update": { did: "changed the organization's profile", isInOrgLog: true },
  "organization.delete": { did: "deleted the organization[ {name}]", bound: "ends", isInOrgLog: true },
  "organization.set_default_visibility": { did: "made new repositories {visibility} by default", isInOrgLog: true },
  "organization.set_plan": { did: "changed the plan[ to {plan}]", isInOrgLog: true },
  "organization.set_policy": { did: "changed the organization's sign-in requirements", isInOrgLog: true },
  "organization.set_app_policy": { did: "set the app policy[ to {policy}]", isInOrgLog: true },
  "organization.approve_app": { did: "approved the app {app}", isInOrgLog: true },
  "organization.block_app": { did: "blocked the app {app}", bound: "apart", isInOrgLog: true },
  "organization.request_app": { did: "requested approval of the app {app}", isInOrgLog: true },
  "organization.reset_app": { did: "reset the decision about the app {app}", bound: "ends", isInOrgLog: true },
  "organization.add_member": { did: "added {subject}[ with the {role} role]", isInOrgLog: true },
  "organization.change_role": {
    did: "changed the role of {subject}[ from {from}][ to {to}][ (trusted publishers that {subject} added and that stay: {publishers})]",
    isInOrgLog: true,
  },
  "organization.transfer": {
    did: "transferred the organization to {subject}[ (trusted publishers that the former administrator added and that stay: {publishers})]",
    isInOrgLog: true,
  },
  "organization.remove_member": {
    did: "removed {subject}[ (trusted publishers that {subject} added and that stay: {publishers})]",
    bound: "ends",
    isInOrgLog: true,
  },
  "organization.leave": {
    did: "left the organization[ (trusted publishers that they added and that stay: {publishers})]",
    bound: "ends",
    isInOrgLog: true,
  },
  "organization.invite": { did: "invited {email}[ with the {role} role]", isInOrgLog: true },
  "organization.resend_invitation": { did: "resent the invitation to {email}", isInOrgLog: true },
  "organization.revoke_invitation": { did: "revoked the invitation to {email}", bound: "ends", isInOrgLog: true },
  "organization.accept_invitation": { did: "accepted an invitation[ with the {role} role]", bound: "ends", isInOrgLog: true },
  "identity_provider.create": { did: "added the identity provider[ {name}]", isInOrgLog: true },
  "identity_provider.update": { did: "changed the identity provider[ {name}]", isInOrgLog: true },
  "identity_provider.disable": { did: "disabled the identity provider[ {name}]", bound: "ends", isInOrgLog: true },
  "identity_provider.enable": { did: "enabled the identity provider[ {name}]", isInOrgLog: true },
  "identity_provider.delete": { did: "deleted the identity provider[ {name}]", bound: "ends", isInOrgLog: true },

  // ---- OAuth: what users allow
  "oauth_consent.give": { did: "authorized the app {app}" },
  "oauth_consent.deny": { did: "denied the app {app} access", bound: "elsewhere" },
  "oauth_consent.narrow": { did: "reduced what the app {app} is allowed to do", bound: "ends" },
  "oauth_consent.revoke": { did: "revoked the access of the app {app}", bound: "ends" },
  "oauth_consent.give_organization": { did: "granted the app {app} access to the organization", isInOrgLog: true },
  "oauth_consent.revoke_organization": {
    did: "revoked the access of the app {app} to the organization",
    bound: "ends",
    isInOrgLog: true,
  },
  "device.approve": { did: "authorized a device for the app {app}" },
  "device.deny": { did: "denied a device of the app {app} access", bound: "elsewhere" },
  "oauth_token.exchange": {
    did: "issued a token for {subject} to the app {app} in exchange for an e-mail address",
    bound: "elsewhere",
    isInOrgLog: true,
  },
  "oauth_token.exchange_refused": {
    did: "refused the app {app} a token in exchange for an e-mail address[: {reason}]",
    bound: "elsewhere",
    isInOrgLog: true,
  },
  "oauth_token.exchange_burst": {
    did: "detected unusually many exchanges by the app {app}",
    bound: "elsewhere",
    isInOrgLog: true,
  },
  "oauth_token.replay_detected": {
    did: "detected the reuse of a code or token of the app {app}",
    bound: "elsewhere",
    isInOrgLog: true,
  },
  "oauth_logout_notice.fail": { did: "could not notify the app {app} of a sign-out", bound: "elsewhere", isInOrgLog: true },

  // ---- OAuth: apps
  "oauth_app.create": { did: "created the app {app}", isInOrgLog: true },
  "oauth_app.register": { did: "registered the app {app} at its own request", bound: "elsewhere" },
  "oauth_app.update": { did: "changed the app {app}", isInOrgLog: true },
  "oauth_app.update_registration": { did: "changed the registration of the app {app} at its own request", bound: "elsewhere" },
  "oauth_app.delete": { did: "deleted the app[ {name}]", bound: "ends", isInOrgLog: true },
  "oauth_app.transfer": { did: "transferred the app {app} to {owner}", isInOrgLog: true },
  "oauth_app.redirect_change": { did: "changed the redirect URIs of the app {app}", isInOrgLog: true },
  "oauth_app.secret_create": { did: "created a secret for the app {app}", isInOrgLog: true },
  "oauth_app.secret_rotate": { did: "rotated the secret of the app {app}", bound: "apart", isInOrgLog: true },
  "oauth_app.secret_delete": { did: "deleted the secret of the app {app}", bound: "ends", isInOrgLog: true },
  "oauth_app.keys_set": { did: "set the keys of the app {app}", bound: "apart", isInOrgLog: true },
  "oauth_app.keys_delete": { did: "deleted the keys of the app {app}", bound: "ends", isInOrgLog: true },
  "oauth_app.verify": { did: "marked the app {app} as verified", isInOrgLog: true },
  "oauth_app.unverify": { did: "removed the verified mark of the app {app}", bound: "ends", isInOrgLog: true },
  "oauth_app.block": { did: "blocked the app {app} everywhere", bound: "ends", isInOrgLog: true },
  "oauth_app.unblock": { did: "unblocked the app {app} everywhere", isInOrgLog: true },
  "oauth_app.bind": { did: "bound the app {app} to the organization", isInOrgLog: true },
  "oauth_app.unbind": { did: "unbound the app {app} from the organization", bound: "ends", isInOrgLog: true },
  "oauth_app.privilege_grant": { did: "granted the app {app} the privilege[ {privilege}]", isInOrgLog: true },
  "oauth_app.privilege_revoke": { did: "revoked the privilege[ {privilege}] of the app {app}", bound: "ends", isInOrgLog: true },
  "oauth_app.privilege_request": { did: "requested the privilege[ {privilege}] for the app {app}", isInOrgLog: true },
  "oauth_app.set_token_duration": { did: "changed the token duration of the app {app}", isInOrgLog: true },
  "oauth_client_document.change": { did: "detected a change in the metadata document of {app}", bound: "elsewhere" },
  "oauth_client_host.allow": { did: "allowed apps of the host {host}" },
  "oauth_client_host.block": { did: "blocked apps of the host {host}", bound: "apart" },
  "oauth_client_host.remove": { did: "deleted the rule for the host {host}", bound: "ends" },

  // ---- keyless continuous integration
  "trusted_publisher.create": { did: "added a trusted publisher[ for {repo}]", isInOrgLog: true },
  "trusted_publisher.delete": { did: "deleted a trusted publisher[ for {repo}]", bound: "ends", isInOrgLog: true },
  "trusted_publisher.delete_all": {
    did: "deleted the trusted publishers that {username} had added ({count})",
    bound: "ends",
    isInOrgLog: true,
  },
  "ci_token.exchange": {
    did: "exchanged a CI job's ID token for an access token[ for {repo}]",
    bound: "elsewhere",
    isInOrgLog: true,
  },
  "ci_token.exchange_refused": { did: "refused a CI job a token[: {error}]", bound: "elsewhere", isInOrgLog: true },

  // ---- leaked tokens
  "credential.revoke_leaked": { did: "revoked a leaked token of {subject}[: {name}]", bound: "elsewhere", isInOrgLog: true },
  "oauth_app.secret_leaked": {
    did: "received a report that a secret of the app {app} has leaked",
    bound: "elsewhere",
    isInOrgLog: true,
  },
  "organization.revoke_token": {
    did: "blocked a token of {subject} from the organization",
    bound: "elsewhere",
    isInOrgLog: true,
  },

  // ---- repositories
  "repo.create": { did: "created the repository {repo}", isInOrgLog: true },
  "repo.update_settings": { did: "changed the settings of {repo}", isInOrgLog: true },
  "repo.move": { did: "moved {from} to {to}[ and deleted its trusted publishers ({endedPublishers})]", isInOrgLog: true },
  "repo.delete_files": { did: "permanently deleted large files of {repo}: {count}", bound: "apart", isInOrgLog: true },
  "repo.delete": { did: "deleted the repository {repo}", bound: "ends", isInOrgLog: true },
  "space.restart": { did: "restarted the Space {repo}", isInOrgLog: true },
  "space.pause": { did: "paused the Space {repo}", bound: "apart", isInOrgLog: true },
  "space.set_sleep_time": { did: "changed the sleep time of the Space {repo}[ to {seconds} seconds]", isInOrgLog: true },
  "space.set_variable": { did: "set the variable {name} of the Space {repo}", isInOrgLog: true },
  "space.delete_variable": { did: "deleted the variable {name} of the Space {repo}", bound: "ends", isInOrgLog: true },
  "space.renew_receiver_address": { did: "created a new receiver URL for the Space {repo}", bound: "apart", isInOrgLog: true },
  "access_request.ask": { did: "requested access to {repo}", isInOrgLog: true },
  "access_request.accept": { did: "accepted the request of {subject} for access to {repo}", isInOrgLog: true },
  "access_request.reject": { did: "rejected the request of {subject} for access to {repo}", bound: "ends", isInOrgLog: true },
  "access_request.reopen": { did: "reopened the request of {subject} for access to {repo}", isInOrgLog: true },
  "access_request.grant": { did: "gave {subject} access to {repo}", isInOrgLog: true },
  "access_request.withdraw": { did: "withdrew their request for access[ to {repo}]", bound: "ends", isInOrgLog: true },
  "discussion.lock": { did: "locked discussion {num} of {repo}", isInOrgLog: true },
  "discussion.unlock": { did: "unlocked discussion {num} of {repo}", isInOrgLog: true },
  "discussion.delete": { did: "deleted discussion {num} of {repo}", bound: "ends", isInOrgLog: true },
  "discussion.hide_comment": { did: "hid a comment in discussion {num} of {repo}", bound: "ends", isInOrgLog: true },
  "discussion.delete_comment": { did: "deleted a comment in discussion {num} of {repo}", bound: "ends", isInOrgLog: true },
  "collection.create": { did: "created the collection[ {title}]", isInOrgLog: true },
  "collection.update": { did: "changed the collection[ {title}]", isInOrgLog: true },
  "collection.delete": { did: "deleted the collection[ {title}]", bound: "ends", isInOrgLog: true },

  // ---- webhooks and relays
  "webhook.create": { did: "created a webhook[ to {target}]", isInOrgLog: true },
  "webhook.update": { did: "changed the webhook[ to {target}]", isInOrgLog: true },
  "webhook.enable": { did: "enabled the webhook[ to {target}]", isInOrgLog: true },
  "webhook.disable": { did: "disabled the webhook[ to {target}]", bound: "ends", isInOrgLog: true },
  "webhook.suspend": {
    did: "automatically disabled the webhook[ to {target}][: {reason}]",
    bound: "elsewhere",
    isInOrgLog: true,
  },
  "webhook.delete": { did: "deleted the webhook[ to {target}]", bound: "ends", isInOrgLog: true },
  "webhook.replay": { did: "replayed deliveries of a webhook[: {count}]", isInOrgLog: true },
  "webhook.test": { did: "sent a test to a webhook[: {kind}]", isInOrgLog: true },
  "webhook.rotate_secret": { did: "rotated the secret of a webhook", bound: "apart", isInOrgLog: true },
  "relay.open": { did: "opened the relay[ {name}]" },
  "relay.close": { did: "closed the relay[ {name}]", bound: "ends" },

  // ---- jobs
  "job.run": { did: "ran a job[ in {image}]", isInOrgLog: true },
  "job.cancel": { did: "cancelled a job", bound: "ends", isInOrgLog: true },
  "job.update": { did: "changed the labels of a job", isInOrgLog: true },
  "scheduled_job.create": { did: "scheduled a job[: {schedule}]", isInOrgLog: true },
  "scheduled_job.update": { did: "changed a scheduled job[ to {schedule}]", isInOrgLog: true },
  "scheduled_job.suspend": { did: "suspended a scheduled job[: {reason}]", bound: "ends", isInOrgLog: true },
  "scheduled_job.resume": { did: "resumed a scheduled job", isInOrgLog: true },
  "scheduled_job.delete": { did: "deleted a scheduled job", bound: "ends", isInOrgLog: true },

  // ---- the audit log itself
  "audit_log.export": { did: "exported the audit log[ as {format}]", isInOrgLog: true },
  "audit_log.expire": { did: "deleted the contents of entries older than the retention period: {count}", bound: "elsewhere" },
  "audit_log.set_retention": { did: "changed the retention of the audit log[ to {days} days]" },

  // ---- the installation
  "installation.set_up": { did: "set up the service" },
  "installation.sign_up_policy": { did: "changed who can create an account" },
  "installation.registration_policy": { did: "changed the app registration policy" },
  "installation.client_document_policy": { did: "changed the policy for metadata documents" },
  "installation.back_up": { did: "backed up the service[ to {place}]", bound: "elsewhere" },
  "installation.restore": { did: "restored the service from a backup[ of {startedAt}]", bound: "elsewhere" },
  "signing_key.rotate": { did: "rotated the signing keys", bound: "apart" },
  "secret_key.rotate": { did: "encrypted the stored secrets with a new key", bound: "apart" },
  "resource_server.add": { did: "added the resource server {identifier}" },
  "resource_server.remove": { did: "removed the resource server {identifier}", bound: "ends" },
  "platform.create": { did: "connected the platform {name}" },
  "platform.rotate_token": { did: "rotated the token of the platform {name}", bound: "apart" },
  "platform.revoke": { did: "revoked the platform {name}", bound: "ends" },
  "platform.sync": { did: "synchronized the repositories of the platform {name}", bound: "elsewhere" },
  "inference_provider.create": { did: "added the inference provider[ {name}]" },
  "inference_provider.update": { did: "changed the inference provider[ {name}]" },
  "inference_provider.delete": { did: "deleted the inference provider[ {name}]", bound: "ends" },
  "inference_model.create": { did: "offered the model[ {name}] for inference" },
  "inference_model.delete": { did: "stopped offering the model[ {name}] for inference", bound: "ends" },
  "storage_quota.set": { did: "changed the storage quota of {owner}[ to {quota}]", isInOrgLog: true },
  "inference_allowance.set": { did: "changed the monthly inference allowance[ of {subject}]", isInOrgLog: true },
  "inference_rates.set": { did: "changed the rate limit of inference[ to {perUser} requests per minute for each user]" },
  "mail.test": { did: "sent a test e-mail[ to {to}]" },
} as const satisfies Record<`${string}.${string}`, Described>;

export type AuditEventType = keyof typeof types;
export const auditEventTypes: Readonly<Record<AuditEventType, Described>> = types;

export function isAuditEventType(type: string): type is AuditEventType {
  return Object.hasOwn(auditEventTypes, type);
}
