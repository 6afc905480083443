import { aptInstaller } from "./apt.mjs";
import { SetupFailed, works } from "./run.mjs";

/** Git LFS too, which only the tests need: they push and clone as people do. */
const programs = [
  { name: "git", isThere: () => works("git") },
  { name: "git-lfs", isThere: () => works("git-lfs", ["version"]) },
];

/** Finds git and git-lfs, or gets them from the distribution. */
export function provideGit(say) {
  const missing = () => programs.filter(({ isThere }) => !isThere()).map(({ name }) => name);
  const names = missing();
  if (names.length === 0) return;
  const install = aptInstaller();
  let problem = "";
  if (install) {
    say(`installing ${names.join(" and ")} (apt-get install ${names.join(" ")})`);
    try {
      // Their certificates are only recommended to git, and it fetches nothing over https without.
      install(...names, "ca-certificates");
    } catch (error) {
      problem = error.message;
    }
  }
  const still = missing();
  if (still.length === 0) return;
  const sentence = `the tests need ${still.join(" and ")}, which cannot be installed here; install it yourself.`;
  throw new SetupFailed([sentence, problem].filter(Boolean).join("\n"));
}
