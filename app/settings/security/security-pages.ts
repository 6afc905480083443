export const SECURITY_PAGE = "/settings/security";
export const AUTHENTICATOR_PAGE = "/settings/security/authenticator";
export const RECOVERY_CODES_PAGE = "/settings/security/recovery-codes";
