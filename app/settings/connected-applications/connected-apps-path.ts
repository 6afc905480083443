export const CONNECTED_APPS_PATH = "/settings/connected-applications";
