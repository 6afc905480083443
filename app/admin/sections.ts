/** The operators' pages, in the order of the side navigation. */
export const sections = [
  {
    label: "Apps",
    pages: [
      { href: "/admin/apps", label: "OAuth apps" },
      { href: "/admin/hosts", label: "App hosts" },
      { href: "/admin/registration", label: "Registration" },
    ],
  },
  {
    label: "Hub",
    pages: [{ href: "/admin/platforms", label: "Platforms" }],
  },
] as const;
