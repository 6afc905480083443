import { aptInstaller } from "./apt.mjs";
import { SetupFailed, works } from "./run.mjs";

const isThere = () => works("bwrap");

/** Finds bubblewrap, or gets it from the distribution. Only the tests insist on it: a service without it refuses jobs, saying why. */
export function provideBubblewrap(say) {
  if (isThere()) return;
  const install = aptInstaller();
  let problem = "";
  if (install) {
    say("installing bubblewrap (apt-get install bubblewrap)");
    try {
      install("bubblewrap");
    } catch (error) {
      problem = error.message;
    }
  }
  if (isThere()) return;
  const sentence = "the tests need bubblewrap (bwrap), which cannot be installed here; install it yourself.";
  throw new SetupFailed([sentence, problem].filter(Boolean).join("\n"));
}
