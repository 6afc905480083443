export const securityNotices = {
  "passkey-added": "Passkey added. Signing in now requires two steps, or the passkey alone.",
  "passkey-renamed": "Passkey renamed.",
  "passkey-removed": "Passkey removed.",
  "authenticator-added": "Authenticator app set up. Signing in now requires two steps.",
  "authenticator-removed": "Authenticator app removed.",
};

export const SECURITY_PAGE = "/settings/security";
export const AUTHENTICATOR_PAGE = "/settings/security/authenticator";
export const RECOVERY_CODES_PAGE = "/settings/security/recovery-codes";
