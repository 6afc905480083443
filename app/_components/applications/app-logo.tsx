import { Avatar, type AvatarProps } from "../avatar.tsx";

type AppLogoProps = Readonly<{
  app: Readonly<{ name: string; logoId: string | null }>;
  size?: AvatarProps["size"];
}>;

export function AppLogo({ app, size = "md" }: AppLogoProps) {
  return <Avatar kind="app" name={app.name} src={app.logoId ? `/images/${app.logoId}` : undefined} size={size} />;
}
