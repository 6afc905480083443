/** The parts of an app's URL. */
export type AppTarget = {
  owner: string;
  name: string;
  /** The rest after `/app`, as sent; empty if not even a slash follows. */
  rest: string;
};

const APP = /^\/spaces\/([^/]+)\/([^/]+)\/app(?=\/|$)/;

/** Whether a path is an app's: it goes only to the Space's door. */
export const isAppPath = (pathname: string): boolean => APP.test(pathname);

/** Parses such a path; undefined if no app can have it (S137). */
export function parseAppTarget(pathname: string): AppTarget | undefined {
  const [matched = "", owner, name] = APP.exec(pathname) ?? [];
  if (owner === undefined || name === undefined) return undefined;
  const rest = pathname.slice(matched.length);
  // A server that resolves hidden dots or slashes would arrive at another path than the one checked.
  if (rest.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment)) || rest.includes("\\")) return undefined;
  const [decodedOwner, decodedName] = [decodeURIComponent(owner), decodeURIComponent(name)];
  if (`${decodedOwner}${decodedName}`.includes("/")) return undefined;
  return { owner: decodedOwner, name: decodedName, rest };
}
