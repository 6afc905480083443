import { ButtonLink } from "../../_components/button.tsx";
import { Gone } from "../../_components/gone.tsx";

/** The question is answered, too old, another browser's, or was never asked; all of them look the same. */
export function RunOut() {
  return (
    <Gone title="This sign-in has run out" action={<ButtonLink href="/">Go to the start</ButtonLink>}>
      It was finished elsewhere or left open too long. Nothing was shared from here. To sign in, go back to the app and start
      again.
    </Gone>
  );
}
