/** Nothing else in this package reads the environment. */
const read = (name: string): string | undefined => globalThis.process?.env?.[name] || undefined;

export const environment = {
  /** Only `whsec_…` secrets are split at spaces. Any other secret may contain spaces, and a part of it must not be accepted. */
  secrets: (): string[] => {
    const text = read("WEBHOOK_SECRET");
    const parts = text?.trim().split(/\s+/) ?? [];
    return text === undefined ? [] : parts.every((part) => part.startsWith("whsec_")) ? parts : [text];
  },
  port: (): number | undefined => {
    const text = read("PORT");
    if (text === undefined) return undefined;
    const port = Number(text);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`PORT is "${text}": use a number from 0 to 65535.`);
    return port;
  },
  host: () => read("HOST"),
  serviceUrl: () => read("KEYHOOK_URL"),
  token: () => read("KEYHOOK_TOKEN"),
  /** In a test runner, nothing starts by itself. */
  isTestRun: () => Boolean(read("VITEST") ?? read("JEST_WORKER_ID") ?? read("NODE_TEST_CONTEXT")),
  configDir: () => read("KEYHOOK_CONFIG_DIR"),
  configHome: () => read("XDG_CONFIG_HOME"),
  appData: () => read("APPDATA"),
};
