import { ButtonLink } from "../../_components/button.tsx";
import { Gone } from "../../_components/gone.tsx";
import { interactionPath } from "./read-consent-page.ts";

/** The page was sent by one account and the browser is signed in with another by now: nothing was granted (S25, S34). */
export function AnotherAccount({ uid }: Readonly<{ uid: string }>) {
  return (
    <Gone
      title="Your account changed meanwhile"
      action={
        <ButtonLink variant="primary" href={interactionPath(uid)}>
          Look again
        </ButtonLink>
      }
    >
      You are signed in with another account than the one that this page was about, so your answer was not taken.
    </Gone>
  );
}
