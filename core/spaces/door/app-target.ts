/** What an address of a Space's app names. */
export type AppTarget = {
  owner: string;
  name: string;
  /** What follows `/app`, as it was sent; empty where not even a slash does. */
  rest: string;
};

const APP = /^\/spaces\/([^/]+)\/([^/]+)\/app(?=\/|$)/;

/** Whether an address is that of an app: it goes to the Space's door and to no other. */
export const isAppPath = (pathname: string): boolean => APP.test(pathname);

/** Reads such an address; undefined for one that no app has (S137). */
export function parseAppTarget(pathname: string): AppTarget | undefined {
  const [matched = "", owner, name] = APP.exec(pathname) ?? [];
  if (owner === undefined || name === undefined) return undefined;
  const rest = pathname.slice(matched.length);
  // Whoever resolves dots or slashes that were hidden would arrive somewhere else than we thought.
  if (rest.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment)) || rest.includes("\\")) return undefined;
  const [decodedOwner, decodedName] = [decodeURIComponent(owner), decodeURIComponent(name)];
  if (`${decodedOwner}${decodedName}`.includes("/")) return undefined;
  return { owner: decodedOwner, name: decodedName, rest };
}
