import type { EditingPlace } from "./actions.ts";
import type { EditingPage } from "./editing-page.ts";

/** What the forms of a page send back. */
export function placeOf({ repo, branch, path }: EditingPage): EditingPlace {
  const { type, owner, name, fullName } = repo;
  return { type, owner: owner.handle, name, fullName, branch, path };
}
