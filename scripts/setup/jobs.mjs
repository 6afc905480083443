import { aptInstaller } from "./apt.mjs";
import { SetupFailed, works } from "./run.mjs";

/** What the tests of jobs need. Podman stands for all container engines; BusyBox is what the tests' images hold. */
const programs = [
  { name: "bubblewrap", isThere: () => works("bwrap") },
  { name: "podman", isThere: () => works("podman") },
  { name: "runc", isThere: () => works("runc") },
  { name: "catatonit", isThere: () => works("catatonit") || works("/usr/libexec/podman/catatonit") },
  { name: "busybox-static", isThere: () => works("busybox", ["true"]) },
];

/** Finds the programs, or gets them from the distribution. Only the tests insist on them: a service without refuses jobs, saying why. */
export function provideJobPrograms(say) {
  const missing = () => programs.filter(({ isThere }) => !isThere()).map(({ name }) => name);
  const names = missing();
  if (names.length === 0) return;
  const install = aptInstaller();
  let problem = "";
  if (install) {
    say(`installing ${names.join(", ")} (apt-get install ${names.join(" ")})`);
    try {
      install(...names);
    } catch (error) {
      problem = error.message;
    }
  }
  const still = missing();
  if (still.length === 0) return;
  const sentence = `the tests need ${still.join(", ")}, which cannot be installed here; install it yourself.`;
  throw new SetupFailed([sentence, problem].filter(Boolean).join("\n"));
}
