export { type DeviceCode, type DeviceLoginOptions, type DevicePoll, deviceLogin } from "./device-login.ts";
export { type ExchangeCiTokenOptions, type ExchangeTokenOptions, exchangeCiToken, exchangeToken } from "./exchange-token.ts";
export { type IdTokenClaims, type IdTokenOptions, readIdTokenClaims, verifyIdToken } from "./id-token.ts";
export { type KeepTokensOptions, type KeptTokens, keepTokens } from "./keep-tokens.ts";
export { createLogin, type FinishLoginOptions, finishLogin, type Login, type LoginOptions, type SignedIn } from "./login.ts";
export { type AppOptions, discover, type ServiceMetadata, type ServiceOptions } from "./service.ts";
export { SignInError } from "./sign-in-error.ts";
export { type RefreshOptions, refreshTokens, revokeToken, type Tokens } from "./tokens.ts";
export { fetchUserInfo, type UserInfo } from "./user-info.ts";
