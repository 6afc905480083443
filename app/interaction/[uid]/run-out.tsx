import { ButtonLink } from "../../_components/button.tsx";
import { Gone } from "../../_components/gone.tsx";

/** The question is answered, too old, another browser's, or was never asked; all of them look the same. */
export function RunOut() {
  return (
    <Gone title="This sign-in has run out" action={<ButtonLink href="/">Go to the start</ButtonLink>}>
      It is finished already, or was left open too long. To sign in, go back to the app and start again.
    </Gone>
  );
}
