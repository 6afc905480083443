import { SubmitButton, type SubmitButtonProps } from "./action-form.client.tsx";
import { ButtonLink } from "./button.tsx";

export function FormButtons({ cancelHref, ...submit }: SubmitButtonProps & Readonly<{ cancelHref: string }>) {
  return (
    <div className="flex flex-wrap gap-3">
      <SubmitButton {...submit} />
      <ButtonLink href={cancelHref}>Cancel</ButtonLink>
    </div>
  );
}
