import type { NavSections } from "../_components/side-frame.tsx";

export const adminSections: NavSections = [
  {
    label: "Service",
    pages: [
      { href: "/admin", label: "Overview", isExact: true },
      { href: "/admin/mail", label: "Mail" },
      { href: "/admin/outbound", label: "Outbound requests" },
      { href: "/admin/audit-log", label: "Audit log" },
      { href: "/admin/keys", label: "Signing keys" },
      { href: "/admin/inference", label: "Inference" },
      { href: "/admin/storage", label: "Storage" },
    ],
  },
  {
    label: "People",
    pages: [
      { href: "/admin/users", label: "Users" },
      { href: "/admin/sign-up", label: "Sign-up" },
      { href: "/admin/organizations", label: "Organizations" },
      { href: "/admin/identity-providers", label: "Identity providers" },
    ],
  },
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
];
