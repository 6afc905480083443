import type { NavSections } from "../_components/side-frame.tsx";

export const settingsSections: NavSections = [
  {
    label: "You",
    pages: [
      { href: "/settings/profile", label: "Profile" },
      { href: "/settings/account", label: "E-mail and sessions" },
      { href: "/settings/security", label: "Security" },
      { href: "/settings/security-log", label: "Security log" },
      { href: "/settings/linked-accounts", label: "Linked accounts" },
      { href: "/settings/connected-applications", label: "Connected apps" },
      { href: "/settings/tokens", label: "Access tokens" },
      { href: "/settings/publishers", label: "Trusted publishers" },
      { href: "/settings/gated-repos", label: "Gated repositories" },
      { href: "/settings/inference", label: "Inference" },
      { href: "/settings/storage", label: "Storage" },
    ],
  },
  {
    label: "Build",
    pages: [
      { href: "/settings/applications", label: "OAuth apps" },
      { href: "/settings/webhooks", label: "Webhooks" },
      { href: "/settings/jobs", label: "Jobs" },
    ],
  },
];
