export function AdminCommand({ children }: Readonly<{ children: string }>) {
  return (
    <code>
      npm run <span className="whitespace-nowrap">admin --</span> {children}
    </code>
  );
}
