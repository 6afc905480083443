import { findUser } from "../../accounts/users/find-user.ts";
import type { Repo } from "./repo.ts";

/** The username of whoever made a repository; undefined once their account is deleted or disabled. */
export async function findMaker({ createdById }: Pick<Repo, "createdById">): Promise<string | undefined> {
  const user = createdById === null ? undefined : await findUser(createdById);
  return user && user.disabledAt === null ? user.username : undefined;
}
